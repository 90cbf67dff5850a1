/** Under which token the board settles an escalated job. */
import { expect, test } from 'vitest';

import { settle } from '../../functions/board/client/hold-calls.ts';
import type { Holder } from '../../functions/board/client/hold-calls.ts';
import type { JobSummary } from '../../functions/board/client/wire.ts';
import { jobRow } from './support.ts';

type Escalation = NonNullable<JobSummary['escalated']>;

/** A board of maria, whose server gives her the job under token 9. */
function mariasBoard(): {
  readonly asked: unknown[];
  readonly board: Holder;
} {
  const asked: unknown[] = [];
  const send = async (_method: string, path: string, body: unknown): Promise<unknown> => {
    asked.push([path, body]);
    return { job: { id: 'a', fencing_token: '9' } };
  };
  return {
    asked,
    board: {
      api: { send: send as Holder['api']['send'] },
      session: { actor: 'maria' },
      newClaimId: () => 'new',
    },
  };
}

function held(by: string | null, token: string | null): JobSummary {
  return jobRow('a', { escalated: { held_by: by, fencing_token: token } as Escalation });
}

const CLAIM = [
  '/v1/escalations/claims',
  { job_id: 'a', claim_id: 'new', lease_seconds: 3600 },
] as const;

test('S2.4 a job is settled under the token of the hold that there is, wherever it was taken', async () => {
  const { asked, board } = mariasBoard();
  await settle(board, held('maria', '3'), 'complete', { note: 'done' });
  // It ran out, and was taken again in another window.
  await settle(board, held('maria', '4'), 'complete', { note: 'done' });
  expect(asked).toEqual([
    ['/v1/escalations/a/complete', { note: 'done', fencing_token: '3' }],
    ['/v1/escalations/a/complete', { note: 'done', fencing_token: '4' }],
  ]);
});

test('S2.4 one that nobody holds, or somebody else did, is taken first', async () => {
  for (const job of [held(null, null), held('tom', '3')]) {
    const { asked, board } = mariasBoard();
    await settle(board, job, 'release', {});
    expect(asked).toEqual([CLAIM, ['/v1/escalations/a/release', { fencing_token: '9' }]]);
  }
});
