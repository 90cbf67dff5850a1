import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Job } from '../../shared/queue/job.ts';
import type { JobPageResponse } from '../../shared/schemas/job-response.ts';
import { createCliHarness } from './support/cli-harness.ts';
import type { CliHarness } from './support/cli-harness.ts';

let cli: CliHarness;
beforeAll(async () => {
  cli = await createCliHarness();
});
afterAll(() => cli.close());

/** Adds jobs and lets each fail for good; gives their ids. */
async function deadJobs(queue: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const { id } = await cli.client.enqueue({ queue, type: 'try', payload: i });
    const claimed = await cli.client.claim(queue);
    if (claimed.outcome === 'empty') throw new Error('nothing to claim');
    const error = { code: 'no_such_user', message: `No user ${i}` };
    await cli.client.fail(claimed.job, { error, class: 'permanent' });
    ids.push(id);
  }
  return ids;
}

const stateOf = async (id: string): Promise<string | undefined> =>
  (await cli.client.getJob(id))?.state;
const why = ['--reason', 'the user is back'];

describe('dead', () => {
  test('lists dead jobs with reason and error, the oldest first', async () => {
    const ids = await deadJobs('listed', 2);
    const { code, out } = await cli.run(['dead', '--queue', 'listed']);
    expect(code).toBe(0);
    const [title, ...lines] = out.trimEnd().split('\n');
    expect(title).toMatch(/^ID +SINCE +QUEUE +TYPE +REASON +OWNER +ERROR$/);
    expect(lines.map((line) => line.split(' ')[0])).toEqual(ids);
    expect(lines[0]).toMatch(/permanent_failure +- +No user 0$/);
    const page = await cli.json<JobPageResponse>(['dead', 'list', '--queue', 'listed']);
    expect(page.jobs.map(({ id }) => id)).toEqual(ids);
  });

  test('gives a dead job an owner and a note', async () => {
    const [id = ''] = await deadJobs('noted', 1);
    const job = await cli.json<Job>(['dead', 'note', id, '--owner', 'maria', '--note', 'asked']);
    expect(job.dead).toMatchObject({ owner: 'maria', note: 'asked' });
    expect((await cli.run(['dead', 'get', id])).out).toMatch(/\nowner +maria\nnote +asked\n/);
    expect(await cli.run(['dead', 'note', id])).toMatchObject({ code: 2 });
    expect(await cli.run(['dead', 'get', uuidv7()])).toMatchObject({ code: 3 });
  });

  test('redrives and discards chosen jobs', async () => {
    const [back = '', gone = ''] = await deadJobs('chosen', 2);
    expect(await cli.run(['dead', 'redrive', back, ...why])).toEqual({
      code: 0,
      out: 'Sent back 1 job.\n',
      err: '',
    });
    expect(await stateOf(back)).toBe('pending');
    expect((await cli.run(['dead', 'discard', gone, ...why])).out).toBe('Discarded 1 job.\n');
    expect(await stateOf(gone)).toBe('cancelled');
  });

  test('ends with 1 when some were not settled, and names them', async () => {
    const [id = ''] = await deadJobs('some', 1);
    const other = uuidv7();
    const ran = await cli.run(['dead', 'redrive', id, other, ...why]);
    expect(ran.code).toBe(1);
    expect(ran.out).toMatch(new RegExp(`^Sent back 1 job\\.\nNOT SETTLED.*\n${other} +not_dead`));
  });

  test('a filter settles exactly as many as were expected, or none', async () => {
    const ids = await deadJobs('filtered', 3);
    const filter = ['dead', 'redrive', '--queue', 'filtered', '--dead-reason', 'permanent_failure'];
    const dry = await cli.run([...filter, '--dry-run']);
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.out).toContain('3 would be sent back.\n');
    for (const id of ids) expect(dry.out).toContain(id);
    const wrong = await cli.run([...filter, '--expect', '2', ...why]);
    expect(wrong.code).toBe(1);
    expect(wrong.err).toContain('count_mismatch');
    expect(await Promise.all(ids.map(stateOf))).toEqual(['dead', 'dead', 'dead']);
    const right = await cli.run([...filter, '--expect', '3', '--per-second', '1', ...why]);
    expect(right).toMatchObject({ code: 0, out: 'Sent back 3 jobs.\n' });
    const jobs = await Promise.all(ids.map(async (id) => await cli.client.getJob(id)));
    expect(jobs.map((job) => job?.state)).toEqual(['pending', 'pending', 'pending']);
    expect(new Set(jobs.map((job) => job?.due_at)).size).toBe(3);
  });

  test('a person is asked what would happen, and a no changes nothing', async () => {
    const [id = ''] = await deadJobs('asked', 1);
    const order = ['dead', 'discard', '--queue', 'asked', ...why];
    const nobody = await cli.run(order);
    expect(nobody).toMatchObject({ code: 2, out: '' });
    expect(nobody.err).toContain('--expect');
    const no = await cli.run(order, { answer: '' });
    expect(no).toMatchObject({ code: 1, out: '' });
    expect(cli.questions).toEqual(['Discard for good 1 job (queue asked)? [y/N] ']);
    expect(await stateOf(id)).toBe('dead');
    expect(await cli.run(order, { answer: 'y' })).toMatchObject({ code: 0 });
    expect(await stateOf(id)).toBe('cancelled');
    const [second = ''] = await deadJobs('asked', 1);
    expect(await cli.run([...order, '--yes'])).toMatchObject({ code: 0 });
    expect(await stateOf(second)).toBe('cancelled');
  });

  test.each([
    [['dead', 'redrive', ...why], /Name jobs, or give a filter/],
    [['dead', 'redrive', uuidv7(), '--queue', 'q', ...why], /not both/],
    [['dead', 'redrive', uuidv7()], /--reason/],
    [['dead', 'redrive', uuidv7(), '--yes', ...why], /go with a filter/],
    [['dead', 'discard', '--queue', 'q', '--per-second', '1', ...why], /unknown option/],
  ])('%j is wrong usage, and nothing is sent', async (args, reason) => {
    const before = cli.requests.length;
    const ran = await cli.run(args);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(reason);
    expect(cli.requests.length).toBe(before);
  });

  test('a token that may only look settles nothing', async () => {
    const [id = ''] = await deadJobs('looked', 1);
    const ran = await cli.run(['dead', 'redrive', id, ...why], { scope: 'read' });
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toContain('code forbidden');
    expect(await stateOf(id)).toBe('dead');
  });
});
