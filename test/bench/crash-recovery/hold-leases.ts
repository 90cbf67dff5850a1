/**
 * A process that claims jobs and then hangs: `node hold-leases.ts <connection string> <leases> <lease seconds>
 * <ms between claims>`. It says `held` when it has all of them, and waits to be killed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { uuidv7 } from 'uuidv7';

const [connectionString, leases, leaseSeconds, spacingMs] = process.argv.slice(2);
const client = new pg.Client({ connectionString });
await client.connect();
for (let held = 0; held < Number(leases); held += 1) {
  const { rows } = await client.query('select job_id from leasehold.claim($1, $2, $3, $4)', [
    'bench',
    'doomed',
    uuidv7(),
    Number(leaseSeconds),
  ]);
  if (rows.length === 0) throw new Error('There is nothing to claim.');
  await pause(Number(spacingMs));
}
process.stdout.write('held\n');
setInterval(() => undefined, 60_000);
