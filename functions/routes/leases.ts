import { defined } from '../../shared/defined.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { completeAndClaim } from '../../shared/queue/complete-and-claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import type { CompleteInput } from '../../shared/queue/complete.ts';
import { escalate } from '../../shared/queue/escalate.ts';
import { fail } from '../../shared/queue/fail.ts';
import type { GiveBackOutcome } from '../../shared/queue/given-back.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import type { Lease } from '../../shared/queue/lease.ts';
import { release } from '../../shared/queue/release.ts';
import { snooze } from '../../shared/queue/snooze.ts';
import { completeRequest } from '../../shared/schemas/complete-request.ts';
import type { ClaimNextRequest } from '../../shared/schemas/complete-request.ts';
import { escalateRequest } from '../../shared/schemas/escalation-requests.ts';
import { failRequest } from '../../shared/schemas/fail-request.ts';
import { heartbeatRequest } from '../../shared/schemas/heartbeat-request.ts';
import { jobId } from '../../shared/schemas/job-id.ts';
import { releaseRequest } from '../../shared/schemas/release-request.ts';
import { snoozeRequest } from '../../shared/schemas/snooze-request.ts';
import type { AppDeps } from '../deps.ts';
import { leaseAnswer } from '../lease-answer.ts';
import { requireJob, requireQueue } from '../middleware/queue-access.ts';
import { readJson } from '../middleware/read-json.ts';
import { readParam } from '../middleware/read-query.ts';
import { pokeQueues } from '../poke-queues.ts';
import { queueOfPushOwner } from '../push-once.ts';
import { askDrain } from '../wake/ask-drain.ts';
import { askWake } from '../wake/ask-wake.ts';
import type { Route, RouteContext } from './route.ts';

/** Extends a lease with proof of progress, or learns that it is lost. */
export const heartbeatLease: Route = {
  ...leaseRoute('heartbeat'),
  handle: async (context, deps) => {
    const request = await readJson(context, heartbeatRequest);
    const beat = await heartbeat(
      deps.sql,
      defined({
        ...(await leaseOf(context, deps, request.fencing_token)),
        step: request.step,
        progress: request.progress,
        leaseSeconds: request.lease_seconds,
      }),
    );
    if (beat.outcome === 'lease_lost') throw leaseLost();
    return context.json({
      outcome: beat.outcome,
      lease_expires_at: beat.leaseExpiresAt.toISOString(),
      lease_remaining_ms: beat.leaseRemainingMs,
      cancel_requested: beat.cancelRequested,
    });
  },
};

/** Ends the job as done; with `claim_next`, the next one comes with the answer. */
export const completeLease: Route = {
  ...leaseRoute('complete'),
  handle: async (context, deps) => {
    const request = await readJson(context, completeRequest);
    const { claim_next: claimNext } = request;
    if (claimNext !== undefined) requireQueue(context, claimNext.queue);
    const report = defined({
      ...(await leaseOf(context, deps, request.fencing_token)),
      result: request.result,
      resultProblem: request.result_problem,
    });
    if (claimNext !== undefined) return await completeAndGoOn(context, deps, report, claimNext);
    const end = await complete(deps.sql, report);
    if (end.outcome === 'lease_lost') throw leaseLost();
    wakeAfterPush(context, deps, end.moreDue);
    if (end.keyedQueue !== undefined) wakeNextOfKey(deps, end.keyedQueue, end.moreDue);
    return context.json({ outcome: end.outcome, more_due: end.moreDue });
  },
};

async function completeAndGoOn(
  context: RouteContext,
  deps: AppDeps,
  report: CompleteInput,
  { queue, claim_id, lease_seconds }: ClaimNextRequest,
): Promise<Response> {
  const claimId = claim_id ?? deps.ids.uuidv7();
  const claim = defined({ queue, claimId, leaseSeconds: lease_seconds });
  const end = await completeAndClaim(deps.sql, { ...report, ...claim });
  if (end.outcome === 'lease_lost') throw leaseLost();
  if (end.next !== undefined) askWake(deps, [end.next.leaseExpiresAt]);
  // With a job of its own queue a receiver of pushes goes on by itself.
  if (end.next?.queue !== queueOfPushOwner(report.owner)) wakeAfterPush(context, deps, false);
  return context.json({
    outcome: end.outcome,
    more_due: end.moreDue,
    next: end.next === undefined ? null : leaseAnswer(end.next),
  });
}

/** Ends the attempt as failed: the job is tried again, or is dead. */
export const failLease: Route = {
  ...leaseRoute('fail'),
  handle: async (context, deps) => {
    const request = await readJson(context, failRequest);
    const end = await fail(
      deps.sql,
      defined({
        ...(await leaseOf(context, deps, request.fencing_token)),
        error: request.error,
        failureClass: request.class,
        retryAfterMs: milliseconds(request.retry_after_seconds),
      }),
    );
    switch (end.outcome) {
      case 'pending':
        askWake(deps, [end.dueAt]);
        wakeAfterPush(context, deps, end.moreDue);
        return context.json({
          outcome: end.outcome,
          due_at: end.dueAt.toISOString(),
          more_due: end.moreDue,
        });
      case 'escalated':
        wakeAfterPush(context, deps, end.moreDue);
        // A word of its own would be unknown to clients from before there were people.
        return context.json({ outcome: 'dead', escalated: true, more_due: end.moreDue });
      case 'dead':
      case 'cancelled':
        wakeAfterPush(context, deps, end.moreDue);
        return context.json({ outcome: end.outcome, more_due: end.moreDue });
      case 'lease_lost':
        throw leaseLost();
    }
  },
};

/** Gives the job back, for anyone. */
export const releaseLease: Route = {
  ...leaseRoute('release'),
  handle: async (context, deps) => {
    const request = await readJson(context, releaseRequest);
    const lease = await leaseOf(context, deps, request.fencing_token);
    return givenBack(
      context,
      deps,
      await release(deps.sql, defined({ ...lease, reason: request.reason })),
    );
  },
};

/** The holder asks a person: the attempt ends, and the job waits in the human lane. */
export const escalateLease: Route = {
  ...leaseRoute('escalate'),
  handle: async (context, deps) => {
    const { fencing_token, question } = await readJson(context, escalateRequest);
    const lease = await leaseOf(context, deps, fencing_token);
    const end = await escalate(deps.sql, { ...lease, question });
    if (end.outcome === 'lease_lost') throw leaseLost();
    wakeAfterPush(context, deps, end.moreDue);
    return context.json({ outcome: end.outcome, more_due: end.moreDue });
  },
};

/** Not now: the job waits, and no attempt is spent. */
export const snoozeLease: Route = {
  ...leaseRoute('snooze'),
  handle: async (context, deps) => {
    const request = await readJson(context, snoozeRequest);
    const lease = await leaseOf(context, deps, request.fencing_token);
    const delayMs = Math.round(request.delay_seconds * 1000);
    return givenBack(
      context,
      deps,
      await snooze(deps.sql, defined({ ...lease, delayMs, reason: request.reason })),
    );
  },
};

function leaseRoute(verb: string): Omit<Route, 'handle'> {
  return {
    method: 'POST',
    path: `/v1/leases/:id/${verb}`,
    access: { kind: 'token', scope: 'work' },
    database: true,
  };
}

/** The owner is whoever the token names: a body cannot speak for another. */
async function leaseOf(context: RouteContext, deps: AppDeps, fencingToken: string): Promise<Lease> {
  const id = readParam(context, 'id', jobId);
  await requireJob(context, deps, id);
  return { jobId: id, owner: context.get('actor'), fencingToken };
}

function givenBack(context: RouteContext, deps: AppDeps, end: GiveBackOutcome): Response {
  switch (end.outcome) {
    case 'pending':
      askWake(deps, [end.dueAt]);
      return context.json({ outcome: end.outcome, due_at: end.dueAt.toISOString() });
    case 'cancelled':
      wakeAfterPush(context, deps, false);
      return context.json({ outcome: end.outcome });
    case 'lease_lost':
      throw leaseLost();
  }
}

/**
 * Where a receiver of pushes ends a job that it took over, the next one can be sent; a limit of the queue may have waited for
 * that. Others who lease over HTTP come back for the next job by themselves.
 */
function wakeAfterPush(context: RouteContext, deps: AppDeps, moreDue: boolean): void {
  const queue = queueOfPushOwner(context.get('actor'));
  if (queue === undefined) return;
  if (moreDue) pokeQueues(deps, [queue]);
  else askDrain(deps);
}

/**
 * The next job of an ordering key was not announced when it was added, since it could not start. Where handlers run it nobody
 * would come for it; when it is due, by a delay of its own or the rate of its key, only the database knows.
 */
function wakeNextOfKey(deps: AppDeps, queue: string, moreDue: boolean): void {
  if (!deps.handlers.serves(queue)) return;
  if (moreDue) pokeQueues(deps, [queue]);
  else askDrain(deps);
}

/** An expected answer with a code of its own: whoever gets it stops, whoever gets another error tries again. */
function leaseLost(): LeaseholdError {
  return new LeaseholdError(
    'lease_lost',
    'The lease has run out, or the job has ended or runs under a newer fencing token.',
  );
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}
