import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { HeldClaimResponse } from '../../shared/schemas/escalation-responses.ts';
import type { JobPageResponse } from '../../shared/schemas/job-response.ts';
import { signToken } from '../routes/support/app-harness.ts';
import { createCliHarness } from './support/cli-harness.ts';
import type { CliHarness } from './support/cli-harness.ts';

let cli: CliHarness;
beforeAll(async () => {
  cli = await createCliHarness();
});
afterAll(() => cli.close());

/** A job that failed until a person is asked. */
async function escalated(queue: string): Promise<string> {
  await cli.client.queues.put(queue, { on_exhausted: 'escalate', escalate_after: 1 });
  const { id } = await cli.client.enqueue({
    queue,
    type: 'try',
    payload: { card: '4111-1111-1111-1111' },
  });
  const claimed = await cli.client.claim(queue);
  if (claimed.outcome === 'empty') throw new Error('nothing to claim');
  await cli.client.fail(claimed.job, { error: { code: 'unsure', message: 'Which address?' } });
  return id;
}

const stateOf = async (id: string): Promise<string | undefined> =>
  (await cli.client.getJob(id))?.state;
const asBob = async (): Promise<{ LEASEHOLD_TOKEN: string }> => ({
  LEASEHOLD_TOKEN: await signToken('human read', { subject: 'bob' }),
});

describe('escalations', () => {
  test('list what waits for a person, and are shown as such elsewhere', async () => {
    const id = await escalated('listed');
    const { out } = await cli.run(['escalations', '--queue', 'listed']);
    expect(out).toMatch(/^ID +SINCE +QUEUE +TYPE +REASON +OWNER +HELD BY +ERROR\n/);
    expect(out).toMatch(new RegExp(`\n${id} .* failures_used_up +- +- +Which address\\?\n$`));
    const { jobs } = await cli.json<JobPageResponse>(['escalations', 'list', '--queue', 'listed']);
    expect(jobs.map((job) => job.id)).toEqual([id]);
    expect((await cli.run(['list', '--state', 'escalated'])).out).toContain('Which address?');
    expect((await cli.run(['get', id])).out).toMatch(/\nescalated since +\S+Z/);
    expect(await cli.run(['get', id, '--wait', '5'])).toMatchObject({ code: 1 });
    expect((await cli.run(['dead', 'note', id, '--owner', 'maria'])).out).toMatch(/owner +maria/);
  });

  test('a person takes one, and completes it under that hold', async () => {
    const id = await escalated('taken');
    const shown = await cli.run(['escalations', 'claim', '--queue', 'taken', '--hold', '10m']);
    expect(shown.out).toMatch(/\nerror +Which address\?\n/);
    expect(shown.out).toMatch(/\nfencing token +2\n/);
    expect(shown.out).not.toContain('4111-1111-1111-1111');
    const none = await cli.run(['escalations', 'claim', '--queue', 'taken']);
    expect(none).toEqual({ code: 3, out: '', err: 'None is free.\n' });
    const bob = await cli.run(['escalations', 'complete', id], { env: await asBob() });
    expect(bob).toMatchObject({ code: 1, out: '' });
    expect(bob.err).toMatch(/cli-tests holds the job until/);
    const done = await cli.run(['escalations', 'complete', id, '--result', '{"by":"hand"}']);
    expect(done).toEqual({ code: 0, out: `${id} is succeeded now.\n`, err: '' });
    expect(await cli.client.getJob(id)).toMatchObject({
      state: 'succeeded',
      result: { by: 'hand' },
      finished_by: 'cli-tests',
    });
  });

  test('one is sent back with a note in one go', async () => {
    const id = await escalated('back');
    const note = ['--note', 'Use the billing address.'];
    const ran = await cli.run(['escalations', 'send-back', id, ...note]);
    expect(ran).toMatchObject({ code: 0, out: `${id} is pending now.\n` });
    const claimed = await cli.client.claim('back');
    if (claimed.outcome === 'empty') throw new Error('nothing to claim');
    expect(claimed.job).toMatchObject({ id, note: 'Use the billing address.' });
  });

  test('one is given up, and another given back', async () => {
    const gone = await escalated('given');
    const kept = await escalated('given');
    const reason = ['--reason', 'no longer wanted'];
    expect(await cli.run(['escalations', 'discard', gone, ...reason])).toMatchObject({ code: 0 });
    expect(await stateOf(gone)).toBe('cancelled');
    const claim = ['escalations', 'claim', kept];
    const { job } = await cli.json<HeldClaimResponse>(claim);
    const named = ['--fencing-token', job?.fencing_token ?? ''];
    expect(await cli.run(['escalations', 'release', kept, ...named])).toMatchObject({ code: 0 });
    expect((await cli.json<HeldClaimResponse>(claim)).job?.id).toBe(kept);
    const other = ['--fencing-token', '99', '--json'];
    const late = await cli.run(['escalations', 'release', kept, ...other]);
    expect(late.code).toBe(1);
    expect(JSON.parse(late.err)).toMatchObject({ error: { code: 'lease_lost' } });
  });

  test('what is refused leaves the job as free as it was', async () => {
    const id = await escalated('refused');
    const ran = await cli.run(['escalations', 'send-back', id, '--note', 'x'.repeat(4001)]);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(await stateOf(id)).toBe('escalated');
    expect((await cli.client.getJob(id))?.escalated?.held_by).toBeNull();
  });

  test('needs the scope, and a job that is escalated', async () => {
    const id = await escalated('scoped');
    const agent = await cli.run(['escalations', 'claim', id], { scope: 'work read operate' });
    expect(agent).toMatchObject({ code: 1, out: '' });
    expect(agent.err).toContain('code forbidden');
    const { id: other } = await cli.client.enqueue({ queue: 'plain', type: 'try', payload: 1 });
    const ran = await cli.run(['escalations', 'complete', other]);
    expect(ran.err).toContain('The job is pending, not escalated.');
    expect(await cli.run(['escalations', 'complete', uuidv7()])).toMatchObject({ code: 3 });
    expect(await cli.run(['escalations', 'send-back', id])).toMatchObject({ code: 2 });
  });
});
