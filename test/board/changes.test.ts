import { describe, expect, test } from 'vitest';
import { changeMemory } from '../../functions/board/client/change-memory.ts';
import {
  EMPTY_LIST,
  jobsLike,
  waitingJobs,
  withChanges,
  withPage,
} from '../../functions/board/client/job-list.ts';
import { jobRow, logEvent } from './support.ts';

const ids = (list: { readonly rows: readonly { readonly id: string }[] }): string =>
  list.rows.map(({ id }) => id).join('');

describe('what the stream told', () => {
  test('an event that comes again with its cursor counts once', () => {
    const memory = changeMemory();
    expect(memory.take({ events: [logEvent('j1')], jobs: [] })).toHaveLength(1);
    const again = memory.take({
      events: [logEvent('j1', { cursor: '9_j1' }), logEvent('j2')],
      jobs: [],
    });
    expect(again.map(({ id }) => id)).toEqual(['j2']);
  });

  test('an answer older than a change does not undo it', () => {
    const memory = changeMemory();
    memory.take({ events: [], jobs: [jobRow('a', { state: 'running' })] });
    const mark = memory.mark();
    expect(memory.changedSince(mark)).toEqual([]);
    memory.take({ events: [], jobs: [jobRow('a', { state: 'succeeded' }), jobRow('b')] });
    expect(memory.changedSince(mark).map(({ id, state }) => `${id} ${state}`)).toEqual([
      'a succeeded',
      'b pending',
    ]);
  });

  test('is forgotten from the oldest on, the newest word on a job last', () => {
    const memory = changeMemory(2);
    memory.take({ events: [logEvent('j1')], jobs: [jobRow('a')] });
    memory.take({ events: [logEvent('j2')], jobs: [jobRow('b')] });
    memory.take({ events: [logEvent('j3')], jobs: [jobRow('a'), jobRow('c')] });
    expect(memory.changedSince(0).map(({ id }) => id)).toEqual(['a', 'c']);
    expect(memory.take({ events: [logEvent('j1')], jobs: [] })).toHaveLength(1);
  });
});

describe('a list of jobs', () => {
  const pending = jobsLike({ state: 'pending', queue: 'emails' });
  const page = (
    text: string,
    next: string | null,
  ): { rows: ReturnType<typeof jobRow>[]; next: string | null } => ({
    rows: text.split('').map((id) => jobRow(id)),
    next,
  });

  test('is newest first, and pages go on behind each other', () => {
    const first = withPage(pending, EMPTY_LIST, page('zyx', 'x'));
    expect(ids(withPage(pending, first, page('wv', null)))).toBe('zyxwv');
  });

  test('takes new jobs to their place and lets go of those that no longer fit', () => {
    const list = withPage(pending, EMPTY_LIST, page('yvt', null));
    const changed = withChanges(pending, list, [
      jobRow('z'),
      jobRow('w'),
      jobRow('s'),
      jobRow('v', { state: 'running' }),
      jobRow('u', { queue: 'other' }),
    ]);
    expect(ids(changed)).toBe('zywts');
  });

  test('shows a changed job as it is now', () => {
    const list = withPage(pending, EMPTY_LIST, page('yv', null));
    const changed = withChanges(pending, list, [jobRow('v', { type: 'email.goodbye' })]);
    expect(changed.rows.map(({ type }) => type)).toEqual(['email.welcome', 'email.goodbye']);
  });

  test('leaves to the next page what belongs behind the loaded part', () => {
    const list = withPage(pending, EMPTY_LIST, page('yv', 'v'));
    expect(ids(withChanges(pending, list, [jobRow('a'), jobRow('w')]))).toBe('ywv');
  });

  test('stays the very same when a change is none of its business', () => {
    const list = withPage(pending, EMPTY_LIST, page('yv', null));
    expect(withChanges(pending, list, [jobRow('z', { queue: 'other' })])).toBe(list);
  });

  test('is found by tag and keys as well', () => {
    const job = jobRow('a', { tags: ['vip'], ordering_key: 'k', dedup_key: 'd' });
    expect(jobsLike({ tag: 'vip', ordering_key: 'k', dedup_key: 'd' }).holds(job)).toBe(true);
    expect(jobsLike({ tag: 'v' }).holds(job)).toBe(false);
    expect(jobsLike({ ordering_key: 'other' }).holds(job)).toBe(false);
  });

  test('of the dead has the longest dead first', () => {
    const kind = waitingJobs((job) => job.dead?.since, undefined);
    const dead = (id: string, since: string): ReturnType<typeof jobRow> =>
      jobRow(id, {
        dead: {
          reason: 'x',
          error: null,
          since,
          owner: null,
          note: null,
          blocks_ordering_key: false,
        },
      });
    const list = withPage(kind, EMPTY_LIST, { rows: [dead('b', '1'), dead('a', '3')], next: null });
    expect(ids(withChanges(kind, list, [dead('c', '2'), dead('d', '4')]))).toBe('bcad');
    expect(ids(withChanges(kind, list, [jobRow('b')]))).toBe('a');
  });
});
