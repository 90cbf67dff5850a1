/** `npm run check`: types, lint and format, without a test. */
import { runChecks } from './support/checks.ts';

const { failed } = runChecks((text) => console.log(text));
process.exitCode = failed === 0 ? 0 : 1;
