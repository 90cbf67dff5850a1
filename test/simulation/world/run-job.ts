import pg from 'pg';
import type { Sql } from '../../../shared/ports.ts';
import { beginEffect } from '../../../shared/queue/begin-effect.ts';
import { completeAndClaim } from '../../../shared/queue/complete-and-claim.ts';
import { complete } from '../../../shared/queue/complete.ts';
import { FAILURE_CLASSES } from '../../../shared/queue/failure-class.ts';
import { escalate } from '../../../shared/queue/escalate.ts';
import { fail } from '../../../shared/queue/fail.ts';
import { heartbeat } from '../../../shared/queue/heartbeat.ts';
import { release } from '../../../shared/queue/release.ts';
import { settleEffect } from '../../../shared/queue/settle-effect.ts';
import { snooze } from '../../../shared/queue/snooze.ts';
import type { Actor, Steps } from './actor.ts';
import { held, type HeldLease } from './held-lease.ts';
import { short } from './producer.ts';

/** Of holders: they hear that their lease is lost, or see its end by their own clock, and report all the same. */
const STUBBORN = 0.5;
const MOST_BEATS = 4;

/**
 * Runs a job under its lease: beats, effects, and a report, which names the token that it comes from. It may take longer than
 * the lease, and the process may know or not. Gives the next lease where the report asked for one.
 */
export async function* runJob(actor: Actor, lease: HeldLease): Steps<HeldLease | undefined> {
  const { random, world } = actor;
  const stubborn = random.chance(STUBBORN);
  const beats = random.below(MOST_BEATS);
  let until = lease.until;
  let calledOff = false;
  for (let step = 1; step <= beats; step += 1) {
    yield* actor.pause(random.below(6));
    if (actor.localNow > until && !stubborn) {
      actor.note(`stops ${name(lease)}: its lease has run out`);
      return undefined;
    }
    const progress = `token ${lease.fencingToken} step ${step}`;
    const beat = yield* ask(actor, lease, `beat ${name(lease)}`, async (sql) => {
      const answer = await heartbeat(sql, { ...lease, step, ...(step % 2 === 0 && { progress }) });
      return answer.outcome === 'held'
        ? { remainingMs: answer.leaseRemainingMs, calledOff: answer.cancelRequested }
        : undefined;
    });
    if (beat === undefined) {
      world.tally.leasesLost += 1;
      if (!stubborn) return undefined;
    } else {
      until = actor.localNow + beat.remainingMs;
      calledOff = beat.calledOff;
    }
  }
  yield* actor.pause(random.chance(0.25) ? random.between(15, 60) : random.below(6));
  if (actor.localNow > until && !stubborn) return undefined;
  if (lease.type === 'effect' && !(yield* doEffect(actor, lease))) return undefined;
  return yield* report(actor, lease, calledOff);
}

async function* report(
  actor: Actor,
  lease: HeldLease,
  calledOff: boolean,
): Steps<HeldLease | undefined> {
  const { random, world } = actor;
  const reason = `token ${lease.fencingToken} gives it back`;
  const end = random.weighted({
    succeed: calledOff ? 1 : 12,
    fail: 4,
    snooze: 2,
    release: 2,
    vanish: 2,
    ask: world.weather.people > 0 ? 2 : 0,
  });
  let outcome: string;
  switch (end) {
    case 'vanish':
      actor.note(`says nothing of ${name(lease)}`);
      return undefined;
    case 'fail': {
      const failureClass = random.pick(FAILURE_CLASSES) ?? 'unknown';
      const error = { code: 'simulated', message: 'M.', fencing_token: lease.fencingToken };
      outcome = yield* ask(
        actor,
        lease,
        `fail ${name(lease)}, ${failureClass}`,
        async (sql) => (await fail(sql, { ...lease, error, failureClass })).outcome,
      );
      break;
    }
    case 'snooze': {
      const delayMs = random.between(50, 1500);
      outcome = yield* ask(
        actor,
        lease,
        `snooze ${name(lease)}`,
        async (sql) => (await snooze(sql, { ...lease, delayMs, reason })).outcome,
      );
      break;
    }
    case 'ask': {
      const question = `token ${lease.fencingToken} asks`;
      outcome = yield* ask(
        actor,
        lease,
        `ask a person about ${name(lease)}`,
        async (sql) => (await escalate(sql, { ...lease, question })).outcome,
      );
      break;
    }
    case 'release':
      outcome = yield* ask(
        actor,
        lease,
        `release ${name(lease)}`,
        async (sql) => (await release(sql, { ...lease, reason })).outcome,
      );
      break;
    case 'succeed': {
      if (lease.type !== 'in_transaction' && random.chance(0.5)) return yield* goOn(actor, lease);
      outcome = yield* lease.type === 'in_transaction'
        ? succeedInTransaction(actor, lease)
        : ask(
            actor,
            lease,
            `complete ${name(lease)}`,
            async (sql) => (await complete(sql, { ...lease, result: resultOf(lease) })).outcome,
          );
    }
  }
  if (outcome === 'lease_lost') world.tally.leasesLost += 1;
  return undefined;
}

/** The next job with the report. */
async function* goOn(actor: Actor, lease: HeldLease): Steps<HeldLease | undefined> {
  const { owner, queue } = lease;
  const claimId = actor.uuid();
  const input = { ...lease, queue, claimId, result: resultOf(lease) };
  const end = yield* ask(actor, lease, `complete ${name(lease)} and claim`, async (sql) => {
    const answer = await completeAndClaim(sql, input);
    if (answer.outcome === 'lease_lost') return { outcome: answer.outcome, next: undefined };
    const next = answer.next && held(actor, owner, answer.next);
    return { outcome: answer.outcome, next };
  });
  if (end.outcome === 'lease_lost') actor.world.tally.leasesLost += 1;
  return end.next;
}

/** The handler's own rows and the completion in one transaction, as shared/transaction makes it: either both or neither. */
async function* succeedInTransaction(actor: Actor, lease: HeldLease): Steps<string> {
  const { jobId, owner, fencingToken } = lease;
  try {
    return yield* ask(actor, lease, `complete ${name(lease)} in a transaction`, async (sql) => {
      await sql.query('insert into app.job_effects values ($1, $2)', [jobId, fencingToken]);
      const [row] = await sql.query<{ outcome: string }>(
        'select outcome from leasehold.complete($1, $2, $3, $4, p_raise => true)',
        [jobId, owner, fencingToken, JSON.stringify(resultOf(lease))],
      );
      return row?.outcome ?? '';
    });
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    if (error.code === 'LH004') return 'lease_lost';
    if (error.code === 'LH005') return 'succeeded'; // before, and the answer was lost
    throw error;
  }
}

/**
 * Something outside the database, recorded before and after: never done again by an attempt that can know. Says whether the
 * lease was held.
 */
async function* doEffect(actor: Actor, lease: HeldLease): Steps<boolean> {
  const { world } = actor;
  const key = 'mail';
  const began = yield* ask(
    actor,
    lease,
    `begin the effect of ${name(lease)}`,
    async (sql) => (await beginEffect(sql, { ...lease, key })).outcome,
  );
  if (began === 'lease_lost') return false;
  if (began === 'done') return true;
  const outsideKey = `${lease.jobId}/${key}`;
  let state: 'done' | 'not_done' = 'done';
  if (began === 'uncertain') {
    // Reconciled with what the outside knows; done there means done.
    state = world.outside.has(outsideKey) ? 'done' : 'not_done';
  } else {
    yield* actor.pause(actor.random.below(4));
    world.outside.set(outsideKey, (world.outside.get(outsideKey) ?? 0) + 1);
    if (actor.random.chance(0.2)) return false; // the process ends between the effect and its record
  }
  const settled = yield* ask(
    actor,
    lease,
    `settle the effect of ${name(lease)} as ${state}`,
    (sql) => settleEffect(sql, { ...lease, key, state, actor: lease.owner }),
  );
  return settled === 'settled' && state === 'done';
}

function resultOf({ fencingToken }: HeldLease): { fencing_token: string } {
  return { fencing_token: fencingToken };
}

function name({ jobId, fencingToken }: HeldLease): string {
  return `${short(jobId)} (${fencingToken})`;
}

/** A call of the holder. */
function ask<Answer>(
  actor: Actor,
  lease: HeldLease,
  what: string,
  call: (sql: Sql) => Promise<Answer>,
): Steps<Answer> {
  return actor.ask(what, call, { reportsOn: lease.jobId });
}
