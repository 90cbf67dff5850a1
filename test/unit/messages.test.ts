import type { z } from 'zod';
import { describe, expect, test } from 'vitest';

import {
  MAX_CLAIM_BATCH,
  MAX_CLAIM_QUEUES,
  MAX_DELAY_SECONDS,
  MAX_EFFECT_RESULT_BYTES,
  MAX_ERROR_BYTES,
  MAX_KEY_CHARS,
  MAX_LEASE_SECONDS,
  MAX_NOTE_CHARS,
  MAX_PROGRESS_CHARS,
  MAX_REASON_CHARS,
  MAX_REDRIVES_PER_SECOND,
  MAX_RESULT_BYTES,
  MAX_RESULT_PROBLEM_CHARS,
  MAX_RETRY_AFTER_SECONDS,
  MAX_SECONDS_PER_JOB,
  MAX_SETTLED_JOBS,
  MAX_TAGS,
  MAX_TAG_CHARS,
  MAX_WAIT_SECONDS,
  MIN_SNOOZE_SECONDS,
  MAX_WEIGHT,
} from '../../shared/limits.ts';
import { parseWith } from '../../shared/parse-with.ts';
import { claimQueuesRequest } from '../../shared/schemas/claim-queues-request.ts';
import { claimRequest } from '../../shared/schemas/claim-request.ts';
import { completeRequest } from '../../shared/schemas/complete-request.ts';
import { discardMatchingRequest } from '../../shared/schemas/discard-matching-request.ts';
import { editJobRequest } from '../../shared/schemas/edit-job-request.ts';
import { enqueueRequest } from '../../shared/schemas/enqueue-request.ts';
import { failRequest } from '../../shared/schemas/fail-request.ts';
import { heartbeatRequest } from '../../shared/schemas/heartbeat-request.ts';
import { listDeadLettersQuery } from '../../shared/schemas/list-dead-letters-query.ts';
import { noteDeadLetterRequest } from '../../shared/schemas/note-dead-letter-request.ts';
import { queueSettingsRequest } from '../../shared/schemas/queue-settings-request.ts';
import { redriveRequest } from '../../shared/schemas/redrive-request.ts';
import { releaseRequest } from '../../shared/schemas/release-request.ts';
import { settleEffectRequest } from '../../shared/schemas/settle-effect-request.ts';
import { snoozeRequest } from '../../shared/schemas/snooze-request.ts';
import { waitQuery } from '../../shared/schemas/wait-query.ts';

const JOB = { queue: 'q', type: 't', payload: null };
const HELD = { fencing_token: '1' };
const ID = '01900000-0000-7000-8000-000000000001';
const ERROR = { code: 'c', message: 'm' };

/** JSON text of exactly so many bytes. */
const jsonOf = (bytes: number): string => 'x'.repeat(bytes - 2);

type Row = readonly [schema: z.ZodType, base: object, field: string, at: unknown, over: unknown];

/** The value at the edge is taken, the one past it refused with the field's name. */
const EDGES: readonly Row[] = [
  [enqueueRequest, JOB, 'ordering_key', '🐘'.repeat(MAX_KEY_CHARS), 'k'.repeat(MAX_KEY_CHARS + 1)],
  [enqueueRequest, JOB, 'dedup_key', '🐘'.repeat(MAX_KEY_CHARS), ''],
  [enqueueRequest, JOB, 'tags', Array(MAX_TAGS).fill('t'), Array(MAX_TAGS + 1).fill('t')],
  [enqueueRequest, JOB, 'max_unknown_attempts', 100, 101],
  [enqueueRequest, JOB, 'retry_budget_seconds', MAX_DELAY_SECONDS, MAX_DELAY_SECONDS + 1],
  // A year before ours only means "now"; a form that is no instant is refused.
  [enqueueRequest, JOB, 'due_at', '0000-01-01T00:00:00Z', '2030-01-01'],
  [enqueueRequest, JOB, 'due_at', '2030-01-01T00:00:00+23:59', '2030-01-01T00:00:00'],
  [claimRequest, {}, 'lease_seconds', MAX_LEASE_SECONDS, MAX_LEASE_SECONDS + 1],
  [claimRequest, {}, 'lease_seconds', 1, 0],
  [claimRequest, {}, 'limit', MAX_CLAIM_BATCH, MAX_CLAIM_BATCH + 1],
  [claimRequest, {}, 'limit', 1, 0],
  [claimRequest, {}, 'seconds_per_job', MAX_SECONDS_PER_JOB, MAX_SECONDS_PER_JOB + 1],
  [claimRequest, {}, 'wait', MAX_WAIT_SECONDS, MAX_WAIT_SECONDS + 0.1],
  [claimRequest, {}, 'wait', 0, -0.1],
  [claimRequest, {}, 'claim_id', crypto.randomUUID(), 'mine'],
  [
    claimQueuesRequest,
    {},
    'queues',
    Array.from({ length: MAX_CLAIM_QUEUES }, (_, at) => `q${at}`),
    Array.from({ length: MAX_CLAIM_QUEUES + 1 }, (_, at) => `q${at}`),
  ],
  [claimQueuesRequest, {}, 'queues', ['a', 'b'], ['a', { name: 'a', weight: 2 }]],
  [claimQueuesRequest, {}, 'queues', [{ name: 'a', weight: MAX_WEIGHT }], []],
  [
    heartbeatRequest,
    { ...HELD, step: 1 },
    'progress',
    'p'.repeat(MAX_PROGRESS_CHARS),
    'p'.repeat(201),
  ],
  [heartbeatRequest, { ...HELD }, 'step', Number.MAX_SAFE_INTEGER, -1],
  [heartbeatRequest, { step: 1 }, 'fencing_token', '9223372036854775807', '9223372036854775808'],
  [heartbeatRequest, { step: 1 }, 'fencing_token', '1', 1],
  [heartbeatRequest, { step: 1 }, 'fencing_token', '1', '0'],
  [completeRequest, HELD, 'result', jsonOf(MAX_RESULT_BYTES), jsonOf(MAX_RESULT_BYTES + 1)],
  [completeRequest, HELD, 'result_problem', 'r'.repeat(MAX_RESULT_PROBLEM_CHARS), 'r'.repeat(201)],
  [
    failRequest,
    HELD,
    'error',
    { ...ERROR, more: 'x'.repeat(MAX_ERROR_BYTES - 36) },
    { ...ERROR, more: 'x'.repeat(MAX_ERROR_BYTES - 35) },
  ],
  [failRequest, HELD, 'error', ERROR, { code: 'c' }],
  [failRequest, HELD, 'error', { code: 'c'.repeat(100), message: 'm' }, { ...ERROR, code: '' }],
  [failRequest, HELD, 'error', { code: 'c', message: 'm'.repeat(2000) }, 'text'],
  [failRequest, { ...HELD, error: ERROR }, 'class', 'transient', 'retryable'],
  [
    failRequest,
    { ...HELD, error: ERROR },
    'retry_after_seconds',
    MAX_RETRY_AFTER_SECONDS,
    MAX_RETRY_AFTER_SECONDS + 1,
  ],
  [snoozeRequest, HELD, 'delay_seconds', MAX_DELAY_SECONDS, 0],
  [snoozeRequest, HELD, 'delay_seconds', MIN_SNOOZE_SECONDS, MIN_SNOOZE_SECONDS - 0.001],
  [snoozeRequest, HELD, 'delay_seconds', MAX_DELAY_SECONDS, MAX_DELAY_SECONDS + 1],
  [releaseRequest, HELD, 'reason', 'r'.repeat(MAX_REASON_CHARS), 'r'.repeat(MAX_REASON_CHARS + 1)],
  [editJobRequest, {}, 'priority', 'low', 'lowest'],
  [redriveRequest, { reason: 'r' }, 'job_ids', Array(MAX_SETTLED_JOBS).fill(ID), []],
  [redriveRequest, { reason: 'r' }, 'job_ids', [ID], Array(MAX_SETTLED_JOBS + 1).fill(ID)],
  [redriveRequest, { job_ids: [ID] }, 'reason', 'r'.repeat(MAX_REASON_CHARS), ''],
  [redriveRequest, { job_ids: [ID], reason: 'r' }, 'per_second', MAX_REDRIVES_PER_SECOND, 0],
  [
    discardMatchingRequest,
    { filter: { queue: 'q' }, reason: 'r' },
    'expected_count',
    MAX_SETTLED_JOBS,
    MAX_SETTLED_JOBS + 1,
  ],
  [discardMatchingRequest, { expected_count: 1, reason: 'r' }, 'filter', { type: 't' }, {}],
  [noteDeadLetterRequest, {}, 'note', 'n'.repeat(MAX_NOTE_CHARS), 'n'.repeat(MAX_NOTE_CHARS + 1)],
  [noteDeadLetterRequest, {}, 'owner', 'o'.repeat(200), ''],
  [
    settleEffectRequest,
    { state: 'done' },
    'result',
    jsonOf(MAX_EFFECT_RESULT_BYTES),
    jsonOf(MAX_EFFECT_RESULT_BYTES + 1),
  ],
  [settleEffectRequest, {}, 'state', 'not_done', 'uncertain'],
  [queueSettingsRequest, {}, 'concurrency_limit', 10_000, 10_001],
  [queueSettingsRequest, {}, 'concurrency_limit', null, 0],
  [queueSettingsRequest, {}, 'lease_seconds', 3600, null],
  [queueSettingsRequest, {}, 'max_run_seconds', 86_400, 86_401],
  [queueSettingsRequest, {}, 'backoff_cap_ms', 2_592_000_000, 2_592_000_001],
  [queueSettingsRequest, {}, 'rate_interval_ms', 100, 99],
  [queueSettingsRequest, {}, 'retention_days', 3650, 3651],
  [queueSettingsRequest, {}, 'target_url', 'u'.repeat(2000), 'u'.repeat(2001)],
  [queueSettingsRequest, {}, 'weight', 100, 101],
  [queueSettingsRequest, {}, 'key_concurrency', 100, 101],
  [waitQuery, {}, 'wait', '20', '21'],
  [waitQuery, {}, 'wait', '0', '-1'],
  [listDeadLettersQuery, {}, 'limit', '200', '201'],
  [listDeadLettersQuery, {}, 'cursor', `99999999999999999_${ID}`, `999999999999999999_${ID}`],
];

describe('each limit holds at its edge', () => {
  test.each(EDGES.map((row, at) => [at, row[2], row] as const))(
    '%i %s',
    (_at, _field, [schema, base, field, edge, over]) => {
      expect(parseWith(schema, { ...base, [field]: edge })).toMatchObject({ ok: true });
      const refused = parseWith(schema, { ...base, [field]: over });
      expect(refused.ok ? [] : refused.problems[0]?.path.split(/[.[]/)[0]).toBe(field);
    },
  );

  test('a tag', () => {
    const tagged = (tag: string): boolean => parseWith(enqueueRequest, { ...JOB, tags: [tag] }).ok;
    expect(tagged('t'.repeat(MAX_TAG_CHARS))).toBe(true);
    for (const tag of ['', 't'.repeat(MAX_TAG_CHARS + 1), 'a\u0007'])
      expect(tagged(tag)).toBe(false);
  });
});

test('an instant is brought to UTC, whatever zone it was written in', () => {
  const parsed = parseWith(editJobRequest, { due_at: '2030-01-01T00:00:00.5+23:59' });
  expect(parsed).toEqual({ ok: true, value: { due_at: '2029-12-31T00:01:00.500Z' } });
});

test('a bulk form without a dry run needs count and reason', () => {
  const parsed = parseWith(discardMatchingRequest, { filter: { queue: 'q' } });
  expect(parsed.ok ? [] : parsed.problems.map(({ path }) => path)).toEqual([
    'expected_count',
    'reason',
  ]);
  expect(parseWith(discardMatchingRequest, { filter: { queue: 'q' }, dry_run: true }).ok).toBe(
    true,
  );
});

test('a failure keeps every member that it came with', () => {
  const sent: unknown = JSON.parse(
    '{"fencing_token":"1","error":{"code":"c","message":"m","__proto__":{"a":1}}}',
  );
  const parsed = parseWith(failRequest, sent);
  expect(parsed.ok && JSON.stringify(parsed.value.error)).toContain('"__proto__":{"a":1}');
});

test('fields that cannot stand together are refused by name', () => {
  const path = (schema: z.ZodType, value: unknown): string | undefined => {
    const parsed = parseWith(schema, value);
    return parsed.ok ? undefined : parsed.problems[0]?.path;
  };
  expect(path(completeRequest, { ...HELD, result: 1, result_problem: 'x' })).toBe('result_problem');
  expect(path(enqueueRequest, { ...JOB, on_duplicate: 'replace' })).toBe('on_duplicate');
  expect(path(settleEffectRequest, { state: 'not_done', result: 1 })).toBe('result');
  expect(path(editJobRequest, {})).toBe('$');
  expect(path(noteDeadLetterRequest, {})).toBe('$');
});
