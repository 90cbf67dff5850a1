import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Enqueued } from '../../shared/client/job-calls.ts';
import type { Job } from '../../shared/queue/job.ts';
import type { JobPageResponse } from '../../shared/schemas/job-response.ts';
import { createCliHarness } from './support/cli-harness.ts';
import type { CliHarness } from './support/cli-harness.ts';

let cli: CliHarness;
let folder: string;
beforeAll(async () => {
  cli = await createCliHarness();
  folder = mkdtempSync(join(tmpdir(), 'leasehold-cli-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await cli.close();
});

const add = async (queue: string, ...more: readonly string[]): Promise<string> =>
  (await cli.json<Enqueued>(['enqueue', queue, 'try', ...more])).id;

describe('enqueue', () => {
  test('adds a job with everything that was said of it', async () => {
    const id = uuidv7();
    const options = `--id ${id} --priority high --delay 15m --max-attempts 7 --escalate-after 2 --tag a --tag b
      --ordering-key k --dedup-key d --header source=shell=1 --schema-version 3`;
    const ran = await cli.run([
      'enqueue',
      'emails',
      'email.welcome',
      '{"to":"ada@example.com"}',
      ...options.split(/\s+/),
    ]);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toMatch(new RegExp(`^${id}  created; emails, due in 1[45] min`));
    expect(await cli.client.getJob(id)).toMatchObject({
      type: 'email.welcome',
      payload: { to: 'ada@example.com' },
      priority: 'high',
      max_attempts: 7,
      tags: ['a', 'b'],
      ordering_key: 'k',
      dedup_key: 'd',
      headers: { source: 'shell=1' },
      schema_version: 3,
      created_by: 'cli-tests',
    });
    const { rows } = await cli.app.database.pool.query(
      'select escalate_after from leasehold.jobs where id = $1',
      [id],
    );
    expect(rows).toEqual([{ escalate_after: 2 }]);
  });

  test('a repeat with the id is the same job', async () => {
    const id = uuidv7();
    expect(await add('repeat', '1', '--id', id)).toBe(id);
    const ran = await cli.run(['enqueue', 'repeat', 'try', '1', '--id', id]);
    expect(ran.out).toContain('there already, the same job');
    const other = await cli.run(['enqueue', 'repeat', 'try', '2', '--id', id]);
    expect(other).toMatchObject({ code: 1, out: '' });
    expect(other.err).toContain('code job_id_conflict, request ');
  });

  test('takes the payload from a file or standard input', async () => {
    writeFileSync(join(folder, 'payload.json'), '{"from":"file"}');
    const ran = await cli.run(['enqueue', 'files', 'try', '@payload.json', '--json'], { folder });
    const { id } = JSON.parse(ran.out) as Enqueued;
    expect((await cli.client.getJob(id))?.payload).toEqual({ from: 'file' });
    const piped = await cli.run(['enqueue', 'files', 'try', '-', '--json'], { stdin: '[1, 2]' });
    const second = JSON.parse(piped.out) as Enqueued;
    expect((await cli.client.getJob(second.id))?.payload).toEqual([1, 2]);
  });

  test.each([
    [['enqueue', 'q', 't', '{"a":1,"a":2}'], /The payload is not JSON that can be sent: a /],
    [['enqueue', 'q', 't', '{'], /The payload is not JSON/],
    [['enqueue', 'q', 't', '@nowhere.json'], /nowhere\.json cannot be read \(ENOENT\)/],
    [['enqueue', 'q', 't', '1', '--delay', 'soon'], /--delay.*span of time/],
    [['enqueue', 'q', 't', '1', '--max-attempts', '101'], /whole number from 1 to 100/],
    [['enqueue', 'q', 't', '1', '--header', 'x'], /name=value/],
    [['enqueue', 'q'], /missing required argument 'type'/],
    [['enqueue', 'q', 't', '1', '2'], /too many arguments/],
    [['enqueue-batch', '-'], /no line with a job/],
  ])('%j is wrong usage, and nothing is sent', async (args, reason) => {
    const before = cli.requests.length;
    const ran = await cli.run(args);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(reason);
    expect(cli.requests.length).toBe(before);
  });

  test('a refusal names each field', async () => {
    const ran = await cli.run(['enqueue', ' spaces ', 't', '1']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(
      /\n {2}queue: must be 1 to 128 characters.*\n {2}code invalid_request/s,
    );
    const json = await cli.run(['enqueue', ' spaces ', 't', '1', '--json']);
    expect(json).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(json.err)).toMatchObject({
      error: { code: 'invalid_request', status: 400, problems: [{ path: 'queue' }] },
    });
  });

  test('waits for the end, and ends as the job did', async () => {
    const running = cli.run(['enqueue', 'waited', 'try', '1', '--wait', '20']);
    const { jobs } = await cli.client.claimBatch('waited', { wait: 20 });
    if (jobs[0] === undefined) throw new Error('nothing to claim');
    await cli.client.complete(jobs[0], { result: 'done' });
    expect(await running).toMatchObject({ code: 0 });
  });

  test('a batch is one job a line, all or none', async () => {
    const stdin =
      '{"queue":"lines","type":"a","payload":1}\n\n{"queue":"lines","type":"b","payload":2}\n';
    expect(await cli.run(['enqueue-batch', '-'], { stdin })).toEqual({
      code: 0,
      out: '2 created, 0 there already\n',
      err: '',
    });
    const wrong = await cli.run(['enqueue-batch', '-'], { stdin: `${stdin}{"queue":"lines"}` });
    expect(wrong.code).toBe(1);
    expect(wrong.err).toContain('jobs[2].type: is required');
    const { jobs } = await cli.json<JobPageResponse>(['list', '--queue', 'lines']);
    expect(jobs.map(({ type }) => type).sort()).toEqual(['a', 'b']);
  });
});

describe('get', () => {
  test('shows a job, and its payload only when asked', async () => {
    const id = await add('private', '{"card":"4111-1111-1111-1111"}');
    const ran = await cli.run(['get', id]);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain('Not shown: payload, headers');
    expect(ran.out).not.toContain('4111-1111-1111-1111');
    expect((await cli.run(['get', id, '--payload'])).out).toContain(
      '"card": "4111-1111-1111-1111"',
    );
    expect(await cli.json<Job>(['get', id])).toEqual(await cli.client.getJob(id));
  });

  test('shows attempts and their errors', async () => {
    const id = await add('failing', '1');
    const claimed = await cli.client.claim('failing');
    if (claimed.outcome === 'empty') throw new Error('nothing to claim');
    await cli.client.fail(claimed.job, {
      error: { code: 'no_route', message: 'No route to host' },
    });
    const { out } = await cli.run(['get', id]);
    expect(out).toMatch(/Attempts\n#.*\n1 +failed +cli-tests .*No route to host/);
  });

  test('ends with 3 when there is none, and with 5 when the time is up', async () => {
    const none = await cli.run(['get', uuidv7()]);
    expect(none).toMatchObject({ code: 3, out: '' });
    expect(none.err).toMatch(/There is no job .*, or your token may not see it\./);
    const id = await add('slow', '1');
    expect(await cli.run(['get', id, '--wait', '1'])).toMatchObject({ code: 5 });
    await cli.client.cancel(id);
    expect(await cli.run(['get', id, '--wait', '1'])).toMatchObject({ code: 1 });
  });

  test('text of others cannot steer the terminal', async () => {
    const evil = '\u001b[2J\u009b31m\u202erm -rf';
    const id = await add('evil', JSON.stringify({ evil }));
    const claimed = await cli.client.claim('evil');
    if (claimed.outcome === 'empty') throw new Error('nothing to claim');
    // A handler's own error is stored as it was thrown.
    await cli.app.database.pool.query(
      `select leasehold.fail($1, 'cli-tests', $2, $3, p_class => 'permanent')`,
      [id, claimed.job.fencing_token, JSON.stringify({ code: 'x', message: evil })],
    );
    const shown = await cli.run(['get', id, '--payload']);
    expect(shown.out.split('\\u001b[2J\\u009b31m\\u202erm -rf').length).toBeGreaterThan(2);
    for (const args of [
      ['get', id, '--payload'],
      ['get', id, '--json'],
      ['list', '--queue', 'evil'],
      ['dead'],
      ['dead', '--json'],
    ]) {
      const { out } = await cli.run(args);
      expect(out).toContain('u202erm -rf');
      expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    }
    expect((await cli.json<Job>(['get', id])).payload).toEqual({ evil });
  });
});

describe('list', () => {
  test('goes on from page to page until there are as many as were asked for', async () => {
    const stdin = Array.from({ length: 230 }, (_, i) =>
      JSON.stringify({ queue: 'many', type: 'x', payload: i }),
    ).join('\n');
    await cli.run(['enqueue-batch', '-'], { stdin });
    const first = await cli.run(['list', '--queue', 'many', '--limit', '10']);
    expect(first.out.trimEnd().split('\n')).toHaveLength(11);
    expect(first.err).toMatch(/^There are more: --all, or --cursor [0-9a-f-]{36}\n$/);
    const page = await cli.json<JobPageResponse>(['list', '--queue', 'many', '--limit', '210']);
    expect(page.jobs).toHaveLength(210);
    const rest = await cli.json<JobPageResponse>([
      'list',
      '--queue',
      'many',
      '--cursor',
      page.next_cursor ?? '',
      '--all',
    ]);
    expect(rest.jobs).toHaveLength(20);
    expect(rest.next_cursor).toBeNull();
  });

  test('filters, and says so when nothing fits', async () => {
    await add('filtered', '1', '--tag', 'yes');
    await add('filtered', '2');
    const { jobs } = await cli.json<JobPageResponse>([
      'list',
      '--queue',
      'filtered',
      '--tag',
      'yes',
      '--state',
      'pending',
      '--type',
      'try',
    ]);
    expect(jobs).toHaveLength(1);
    expect(await cli.run(['list', '--queue', 'nowhere'])).toEqual({
      code: 0,
      out: '',
      err: 'No job fits.\n',
    });
  });

  test('fits the terminal, and has colours there alone', async () => {
    const long = 'a-queue-with-a-name-that-is-rather-long-for-a-terminal-of-few-columns';
    await add(long, '1', '--delay', '1h');
    const wide = await cli.run(['list', '--queue', long]);
    expect(wide.out).toContain(long);
    const narrow = await cli.run(['list', '--queue', long], { columns: 110 });
    expect(narrow.out).toContain('…');
    expect(Math.max(...narrow.out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110);
    const id = await add('coloured', '1');
    await cli.client.cancel(id);
    const list = ['list', '--queue', 'coloured'];
    const gray = '\u001b[90mcancelled';
    expect((await cli.run(list, { colours: true })).out).toContain(gray);
    expect((await cli.run(list)).out).not.toContain('\u001b');
    for (const [args, env] of [
      [[...list, '--no-color'], {}],
      [[...list, '--json'], {}],
      [list, { NO_COLOR: '1' }],
    ] as const) {
      expect((await cli.run(args, { colours: true, env })).out).not.toContain('\u001b');
    }
  });
});

describe('cancel and edit', () => {
  test('call a job off, and say when it has ended already', async () => {
    const id = await add('called-off', '1');
    expect(await cli.run(['cancel', id, '--reason', 'no more'])).toMatchObject({
      code: 0,
      out: 'Cancelled.\n',
    });
    expect(await cli.client.getJob(id)).toMatchObject({ state: 'cancelled', reason: 'no more' });
    const done = await add('done', '1');
    const claimed = await cli.client.claim('done');
    if (claimed.outcome === 'claimed') await cli.client.complete(claimed.job);
    const late = await cli.run(['cancel', done, '--json']);
    expect(late.code).toBe(1);
    expect(JSON.parse(late.err)).toMatchObject({ error: { code: 'job_ended' } });
    expect(await cli.run(['cancel', uuidv7()])).toMatchObject({ code: 3 });
  });

  test('change when a job is due', async () => {
    const id = await add('edited', '1', '--delay', '1d');
    const job = await cli.json<Job>(['edit', id, '--delay', '0', '--priority', 'urgent']);
    expect(job.priority).toBe('urgent');
    expect(Date.parse(job.due_at)).toBeLessThan(Date.now() + 60_000);
    expect(await cli.run(['edit', id])).toMatchObject({ code: 2 });
    const both = ['edit', id, '--delay', '1', '--due-at', '2030-01-01T00:00:00Z'];
    expect(await cli.run(both)).toMatchObject({ code: 2 });
  });
});
