/**
 * `npm test [-- vitest arguments]`: every check and every test, with all they need started and stopped. The last line
 * is `N passed, N failed`, alone, with `, N skipped` where something was; the exit code says the same.
 */
import { runChecks } from './support/checks.ts';
import { runVitest } from './support/run-vitest.ts';

const checks = runChecks((text) => console.log(text));
const tests = await runVitest(process.argv.slice(2));
const passed = checks.passed + tests.passed;
const failed = checks.failed + tests.failed;
const skipped = checks.skipped + tests.skipped;
console.log(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`);
process.exitCode = failed === 0 ? 0 : 1;
