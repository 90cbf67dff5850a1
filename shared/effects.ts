import { LeaseholdError } from './errors.ts';
import { PermanentError } from './handler-errors.ts';
import { utf8Bytes } from './json-size.ts';
import { parseJsonString } from './json-text.ts';
import type { JsonValue } from './json-value.ts';
import { MAX_EFFECT_RESULT_BYTES } from './limits.ts';
import type { Lease } from './queue/lease.ts';
import type { RunOperations } from './run-operations.ts';
import { LeaseLost } from './thrown-ending.ts';

/** What is known of an effect that an earlier attempt began. */
export type Reconciled<Result> =
  { readonly state: 'done'; readonly result: Result } | { readonly state: 'not_done' };

/** What runs under the name of an effect gets this. */
export interface EffectContext {
  /** The same whenever this effect of this job is tried, through retries and redrive. */
  readonly idempotencyKey: string;
  /** The handler's own. */
  readonly signal: AbortSignal;
}

/**
 * Does something outside the database once, as far as anyone can know: the intent is recorded before, the result after.
 *
 * - Done by an earlier attempt: its result is returned and nothing runs.
 * - Begun by an earlier attempt and never settled: nobody knows, so it is not guessed. `reconcile` asks the other side;
 *   what it finds is recorded, and `run` runs only if it says `not_done`. Without `reconcile` the job is dead with code
 *   `effect_uncertain`: a person finds out, settles the effect on the dead letter and redrives the job.
 * - `run` fails: the effect stays uncertain, for the request may have arrived. Throw an `EffectNotDone` when the other
 *   side has said that nothing happened, and the effect is open again.
 *
 * @param key names the effect within the job, 1 to 200 characters; the same step must have the same key in every attempt
 * @param run does it; what it returns is JSON of at most 64 KiB, and `undefined` becomes null
 * @returns what `run` returned, now or then
 * @example
 * const charge = await context.effect(
 *   'charge',
 *   ({ idempotencyKey, signal }) => bank.charge(order, { idempotencyKey, signal }),
 *   async ({ idempotencyKey }) => {
 *     const found = await bank.find(idempotencyKey);
 *     return found === undefined ? { state: 'not_done' } : { state: 'done', result: found };
 *   },
 * );
 */
export type Effect = <Result extends JsonValue | undefined | void>(
  key: string,
  ...steps: EffectSteps<Result>
) => Promise<Result>;

export type EffectSteps<Result> = [
  run: (context: EffectContext) => Promise<Result> | Result,
  reconcile?: (
    context: EffectContext,
  ) => Promise<Reconciled<NoInfer<Result>>> | Reconciled<NoInfer<Result>>,
];

/**
 * Thrown inside an effect when the other side has said that nothing happened (a refusal, not a lost connection): the
 * effect is recorded as not done, and the cause fails the attempt as if it had been thrown itself.
 *
 * @example throw new EffectNotDone(new PermanentError('card_declined', 'The bank said no.'))
 */
export class EffectNotDone extends Error {
  override readonly name = 'EffectNotDone';
  /** What fails the attempt. */
  readonly failure: Error;

  constructor(failure: Error) {
    super(failure.message, { cause: failure });
    this.failure = failure;
  }
}

export interface EffectsInput {
  readonly operations: Pick<RunOperations, 'beginEffect' | 'settleEffect'>;
  readonly lease: Lease;
  readonly signal: AbortSignal;
}

/** Makes `context.effect` for one attempt. Calls with one key go one after the other. */
export function effectsOf(input: EffectsInput): Effect {
  const attempt: Attempt = { ...input, begun: new Set() };
  const latest = new Map<string, Promise<unknown>>();
  return async (key, run, reconcile) => {
    const before = latest.get(key) ?? Promise.resolve();
    const mine = before.then(
      () => once(attempt, key, run, reconcile),
      () => once(attempt, key, run, reconcile),
    );
    latest.set(key, mine);
    return await mine;
  };
}

async function once<Result extends JsonValue | undefined | void>(
  attempt: Attempt,
  key: string,
  ...[run, reconcile]: EffectSteps<Result>
): Promise<Result> {
  const context: EffectContext = {
    idempotencyKey: `${attempt.lease.jobId}/${encodeURIComponent(key.toWellFormed())}`,
    signal: attempt.signal,
  };
  const first = await begin(attempt, key);
  if (first.outcome === 'done') return stored(first.result);
  if (first.outcome === 'uncertain') {
    if (reconcile === undefined) throw uncertain();
    const found = await reconcile(context);
    if (found.state === 'done') return await settleDone(attempt, key, found.result);
    await settle(attempt, key, { state: 'not_done' });
    const again = await begin(attempt, key);
    if (again.outcome === 'done') return stored(again.result);
    if (again.outcome === 'uncertain') throw uncertain();
  }
  return await settleDone(attempt, key, await runNow(attempt, key, () => run(context)));
}

interface Attempt extends EffectsInput {
  /** Effects that this attempt began and has not settled: to begin one of them again would be to guess. */
  readonly begun: Set<string>;
}

async function runNow<Result>(
  attempt: Attempt,
  key: string,
  run: () => Promise<Result> | Result,
): Promise<Result> {
  attempt.signal.throwIfAborted();
  attempt.begun.add(key);
  try {
    return await run();
  } catch (thrown) {
    if (!(thrown instanceof EffectNotDone)) throw thrown;
    await settle(attempt, key, { state: 'not_done' });
    throw thrown.failure;
  }
}

/** It has happened, so it is recorded as done whatever becomes of its result. */
async function settleDone<Result>(attempt: Attempt, key: string, result: Result): Promise<Result> {
  const kept = toJson(result);
  await settle(attempt, key, { state: 'done', result: kept ?? null });
  if (kept !== undefined) return result;
  throw new PermanentError(
    'effect_result_not_kept',
    `The effect is done, but its result is not JSON of at most ${MAX_EFFECT_RESULT_BYTES} bytes: return less from it.`,
  );
}

async function begin(
  { operations, lease, begun }: Attempt,
  key: string,
): Promise<Exclude<Awaited<ReturnType<RunOperations['beginEffect']>>, { outcome: 'lease_lost' }>> {
  const answer = await operations.beginEffect({ ...lease, key });
  if (answer.outcome === 'lease_lost') throw new LeaseLost('The lease was lost before the effect.');
  return answer.outcome === 'run' && begun.has(key) ? { outcome: 'uncertain' } : answer;
}

async function settle(
  { operations, lease, begun }: Attempt,
  key: string,
  ending: { readonly state: 'done' | 'not_done'; readonly result?: JsonValue },
): Promise<void> {
  const { jobId, owner: actor, fencingToken } = lease;
  const settled = await operations.settleEffect({ jobId, key, actor, fencingToken, ...ending });
  if (settled === 'settled') {
    begun.delete(key);
    return;
  }
  if (settled === 'lease_lost') throw new LeaseLost('The lease was lost during the effect.');
  throw new LeaseholdError('internal_error', `The effect could not be settled: ${settled}.`);
}

/** As it will come back from the database; null for nothing, undefined when it cannot be kept. */
function toJson(result: unknown): JsonValue | undefined {
  if (result === undefined) return null;
  try {
    const text: string | undefined = JSON.stringify(result);
    if (text === undefined || utf8Bytes(text) > MAX_EFFECT_RESULT_BYTES) return undefined;
    const parsed = parseJsonString(text);
    return parsed.ok ? parsed.value : undefined;
  } catch {
    return undefined;
  }
}

/** The one place where what was stored takes the type of what was returned: the key stands for the same step. */
function stored<Result>(result: JsonValue): Result {
  return result as Result;
}

function uncertain(): PermanentError {
  return new PermanentError(
    'effect_uncertain',
    'An earlier attempt began this effect and nobody knows how it ended: find out, settle it on the dead letter, redrive.',
  );
}
