import { effectKey } from '../schemas/effect-key.ts';
import { jobId } from '../schemas/job-id.ts';
import { listDeadLettersQuery } from '../schemas/list-dead-letters-query.ts';
import { JOB_ID } from './examples.ts';
import type { Operation } from './operation.ts';

const tag = 'Dead letters';
const BULK_RULES =
  'Look with `dry_run` first, then name the count that you saw: another count is refused with `count_mismatch`, and nothing changes.';

export const DEAD_LETTER_OPERATIONS: readonly Operation[] = [
  {
    id: 'listDeadLetters',
    method: 'get',
    path: '/v1/dead-letters',
    tag,
    summary: 'List dead jobs',
    description: 'The oldest first, with owner and note.',
    access: 'read',
    database: true,
    query: listDeadLettersQuery,
    success: { 200: { description: 'A page of dead jobs.', schema: 'JobPage' } },
  },
  {
    id: 'getDeadLetter',
    method: 'get',
    path: '/v1/dead-letters/{id}',
    tag,
    summary: 'Read a dead job',
    description: 'With its payload, all attempts and effects.',
    access: 'read',
    database: true,
    params: { id: jobId },
    success: { 200: { description: 'The dead job.', schema: 'Job' } },
    errors: ['not_found'],
  },
  {
    id: 'noteDeadLetter',
    method: 'patch',
    path: '/v1/dead-letters/{id}',
    tag,
    summary: 'Give a dead or escalated job an owner and a note',
    description: 'What is left out stays as it is.',
    access: 'operate',
    database: true,
    params: { id: jobId },
    body: {
      schema: 'NoteDeadLetterRequest',
      example: { owner: 'ada', note: 'Asked the bank, ticket 4711.' },
    },
    success: { 200: { description: 'The job as it is now.', schema: 'Job' } },
    errors: ['not_found'],
  },
  {
    id: 'settleEffect',
    method: 'post',
    path: '/v1/dead-letters/{id}/effects/{key}',
    tag,
    summary: 'Say how an uncertain effect ended',
    description:
      'Of an effect that an attempt began and nobody knows the end of. `not_done`: a later attempt runs it.',
    access: 'operate',
    database: true,
    params: { id: jobId, key: effectKey },
    body: { schema: 'SettleEffectRequest', example: { state: 'done', result: { charge: 'ch_1' } } },
    success: {
      200: {
        description: 'It is recorded.',
        schema: 'SettledEffect',
        example: { job_id: JOB_ID, key: 'charge', state: 'done' },
      },
    },
    errors: ['not_found', 'job_running'],
  },
  {
    id: 'redriveDeadLetters',
    method: 'post',
    path: '/v1/dead-letters/redrive',
    tag,
    summary: 'Send chosen dead jobs back',
    description:
      'A job whose dedup key a live job has meanwhile stays dead and is reported as `dedup_key_taken`.',
    access: 'operate',
    database: true,
    body: {
      schema: 'RedriveRequest',
      example: { job_ids: [JOB_ID], reason: 'bank is back', per_second: 10 },
    },
    success: {
      200: {
        description: 'What became of each.',
        schema: 'Settled',
        example: { settled: 1, jobs: [{ id: JOB_ID, outcome: 'redriven' }] },
      },
    },
  },
  {
    id: 'discardDeadLetters',
    method: 'post',
    path: '/v1/dead-letters/discard',
    tag,
    summary: 'Give chosen dead jobs up',
    description: 'For good. Job and attempts stay readable until retention takes them.',
    access: 'operate',
    database: true,
    body: {
      schema: 'DiscardRequest',
      example: { job_ids: [JOB_ID], reason: 'the order was withdrawn' },
    },
    success: {
      200: {
        description: 'What became of each.',
        schema: 'Settled',
        example: { settled: 1, jobs: [{ id: JOB_ID, outcome: 'discarded' }] },
      },
    },
  },
  {
    id: 'redriveMatching',
    method: 'post',
    path: '/v1/dead-letters/redrive-matching',
    tag,
    summary: 'Send back the dead jobs that fit a filter',
    description: BULK_RULES,
    access: 'operate',
    database: true,
    body: {
      schema: 'RedriveMatchingRequest',
      example: { filter: { queue: 'emails' }, expected_count: 12, reason: 'bank is back' },
    },
    success: { 200: { description: 'What was done, or would be.', schema: 'MatchingOutcome' } },
    errors: ['count_mismatch'],
  },
  {
    id: 'discardMatching',
    method: 'post',
    path: '/v1/dead-letters/discard-matching',
    tag,
    summary: 'Give up the dead jobs that fit a filter',
    description: BULK_RULES,
    access: 'operate',
    database: true,
    body: {
      schema: 'DiscardMatchingRequest',
      example: { filter: { queue: 'emails' }, dry_run: true },
    },
    success: { 200: { description: 'What was done, or would be.', schema: 'MatchingOutcome' } },
    errors: ['count_mismatch'],
  },
];
