import { LeaseholdError } from '../../shared/errors.ts';
import { derivedIds } from '../../shared/derived-ids.ts';
import { parseIdempotencyKey } from '../../shared/idempotency-key.ts';
import { utf8Bytes } from '../../shared/json-size.ts';
import { MAX_KEPT_ANSWER_BYTES } from '../../shared/limits.ts';
import { beginRequest } from '../../shared/queue/begin-request.ts';
import type { BeginRequestOutcome } from '../../shared/queue/begin-request.ts';
import { endRequest } from '../../shared/queue/end-request.ts';
import type { EndRequestInput } from '../../shared/queue/end-request.ts';
import type { AppDeps } from '../deps.ts';
import type { Route, RouteContext } from '../routes/route.ts';
import { knownError, problemResponse, PROBLEMS } from './problem.ts';
import { readBody } from './read-body.ts';
import { invalidRequest } from './read-json.ts';

const HEADER = 'idempotency-key';
/** Of an answer, what a replay needs beside status and body. */
const KEPT_HEADERS = ['content-type', 'location'];
const IN_FLIGHT_RETRY_SECONDS = 1;

/**
 * Carries a request out once for its `Idempotency-Key`, however often it comes.
 *
 * The key is taken before the route runs and the answer kept afterwards, refusals of the request included; a failure of
 * ours (5xx) frees the key instead. A call that was cut off in between is done again by the next one with the same seed:
 * the ids that it makes are the same, so its rows are the same.
 *
 * Without the header, and on routes that opt out, the route just runs.
 *
 * @throws {LeaseholdError} `invalid_request`, `idempotency_key_reused`, `idempotency_key_in_flight`, and what the route
 *   throws
 */
export async function withIdempotencyKey(
  context: RouteContext,
  deps: AppDeps,
  route: Route,
): Promise<Response> {
  const header = context.req.header(HEADER);
  if (header === undefined || route.method !== 'POST' || route.idempotencyKey === 'ignored') {
    return await route.handle(context, deps);
  }
  const parsed = parseIdempotencyKey(header);
  if (!parsed.ok) throw invalidRequest([{ path: 'Idempotency-Key', message: parsed.message }]);
  const { key } = parsed;
  const actor = context.get('actor');
  const begun = await beginRequest(deps.sql, {
    actor,
    key,
    fingerprint: await fingerprintOf(context),
    seed: deps.ids.uuidv7(),
  });
  if (begun.outcome !== 'new') return repeated(begun);

  const { answer, thrown } = await outcomeOf(context, route, {
    ...deps,
    ids: derivedIds(begun.seed, begun.createdAt),
  });
  const kept = await keptAnswer(answer);
  await endRequest(deps.sql, { actor, key, ...(kept === undefined ? {} : { answer: kept }) }).catch(
    // The work is done or refused all the same; a repeat finds the key in flight, then does the same again.
    () => deps.log.warn('idempotency_key_not_ended', { status: kept?.status ?? null }),
  );
  if (answer === undefined) throw thrown;
  return answer;
}

function repeated(begun: Exclude<BeginRequestOutcome, { outcome: 'new' }>): Response {
  switch (begun.outcome) {
    case 'replay':
      return new Response(begun.body, {
        status: begun.status,
        headers: { ...begun.headers, 'idempotency-replayed': 'true' },
      });
    case 'mismatch':
      throw new LeaseholdError(
        'idempotency_key_reused',
        'This Idempotency-Key came before with another method, path or body.',
        { problems: [{ path: 'Idempotency-Key', message: 'was used for another request' }] },
      );
    case 'in_flight':
      throw new LeaseholdError(
        'idempotency_key_in_flight',
        'The first request with this Idempotency-Key has not ended yet.',
        { retryAfterSeconds: IN_FLIGHT_RETRY_SECONDS },
      );
  }
}

/** The answer of the route, a refusal as a problem document; a failure of ours stays an error. */
async function outcomeOf(
  context: RouteContext,
  route: Route,
  deps: AppDeps,
): Promise<{ readonly answer?: Response; readonly thrown?: unknown }> {
  try {
    return { answer: await route.handle(context, deps) };
  } catch (thrown) {
    const error = knownError(thrown);
    return PROBLEMS[error.code].status < 500
      ? { answer: problemResponse(error, context.get('requestId')) }
      : { thrown };
  }
}

/**
 * Undefined: not to be kept, so that the request can be tried again. That holds for an answer too long to keep as well:
 * only a claim of many large jobs is, and done again with the same claim id it gives the same leases.
 */
async function keptAnswer(answer: Response | undefined): Promise<EndRequestInput['answer']> {
  if (answer === undefined || answer.status >= 500) return undefined;
  const body = await answer.clone().text();
  if (utf8Bytes(body) > MAX_KEPT_ANSWER_BYTES) return undefined;
  const headers = KEPT_HEADERS.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { status: answer.status, headers: Object.fromEntries(headers), body };
}

/**
 * SHA-256 of method, path, the queues that the token is limited to and the raw body. None before the body can hold a line
 * break, so no two requests meet. The queues are in it because a replay is given before the route checks them: a token for
 * other queues must not be shown what a wider one was answered.
 */
async function fingerprintOf(context: RouteContext): Promise<string> {
  const { pathname, search } = new URL(context.req.url);
  const queues = context.get('queues');
  const limits = queues === undefined ? '' : JSON.stringify([...queues].toSorted(compareTexts));
  const head = new TextEncoder().encode(`${context.req.method}\n${pathname}${search}\n${limits}\n`);
  const body = await readBody(context);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}
