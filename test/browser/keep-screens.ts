/** `npm run screens`: takes the pictures of docs/screens anew, from a real browser before a real deployment. */
import { runVitest } from '../support/run-vitest.ts';

process.env['SCREENS'] = 'keep';
const { failed } = await runVitest(['--project=workerd', 'test/browser/screens.test.ts']);
process.exitCode = failed === 0 ? 0 : 1;
