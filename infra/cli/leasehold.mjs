#!/usr/bin/env node
// `npx leasehold`: the command line on the Node that the project pins, whatever Node the machine has.
process.argv.splice(2, 0, 'infra/cli/main.ts');
await import('../local/with-setup.mjs');
