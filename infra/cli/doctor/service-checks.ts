import { readyResponse } from '../../../shared/schemas/service-responses.ts';
import type { Connection } from '../connection.ts';
import { tokenClaims } from '../token-claims.ts';
import { durationText } from '../time-text.ts';
import { clockFinding } from './clock.ts';
import { fail, ok, skipped, warn } from './finding.ts';
import type { Finding } from './finding.ts';
import { checkTick } from './tick-check.ts';

const HEALTH = 'service.reachable';
const TOKEN = 'service.token';
const READY = 'service.ready';
const CLOCK = 'service.clock';

const TIMEOUT_MS = 15_000;
/** A token that ends sooner is worth a word. */
const SOON_MS = 3 * 24 * 60 * 60 * 1000;
/** HTTP dates have whole seconds. */
const DATE_ERROR_MS = 1000;

/** The service as this machine sees it: whether it answers, knows the token, and fits its database. */
export async function checkService(
  { url, token }: Connection,
  now: () => number,
): Promise<readonly Finding[]> {
  const began = now();
  const health = await answerOf(`${url}/v1/health`, {});
  if (health === undefined || health.status !== 200) {
    const seen = health === undefined ? 'does not answer' : `answers ${health.status}`;
    return [
      fail(
        HEALTH,
        `${url} ${seen}`,
        'Check LEASEHOLD_URL, and that the functions are deployed there.',
      ),
    ];
  }
  const tookMs = now() - began;
  const bearer = await token();
  return [
    ok(HEALTH, `${url} answers in ${tookMs} ms`),
    tokenFinding(bearer, now()),
    dateFinding(health, began + tookMs / 2, tookMs),
    ...(await readyFindings(url, bearer, now)),
  ];
}

function tokenFinding(token: string, nowMs: number): Finding {
  const claims = tokenClaims(token);
  if (claims === undefined) {
    return fail(TOKEN, 'LEASEHOLD_TOKEN is no bearer token', 'Make one: leasehold token --help');
  }
  const { sub = 'nobody', scope, exp, queues } = claims;
  const who = `${sub}, scopes ${typeof scope === 'string' ? scope : 'none'}${Array.isArray(queues) ? `, ${queues.length} queues` : ''}`;
  if (exp === undefined)
    return fail(TOKEN, `${who}, without an end`, 'The service refuses it. Make one with an end.');
  const leftMs = exp * 1000 - nowMs;
  if (leftMs <= 0) {
    return fail(
      TOKEN,
      `${who}, ended ${durationText(leftMs)} ago`,
      'Make a new one: leasehold token --help',
    );
  }
  const text = `${who}, good for ${durationText(leftMs)}`;
  // One that is made for each call is always young.
  return leftMs < SOON_MS && claims.iat !== undefined && nowMs - claims.iat * 1000 > SOON_MS
    ? warn(TOKEN, text, 'Make a new one in time: leasehold token --help')
    : ok(TOKEN, text);
}

function dateFinding(response: Response, sentMs: number, tookMs: number): Finding {
  const date = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(date)) return skipped(CLOCK, 'the service tells no time');
  // The date was cut to whole seconds: on average it is half a second behind.
  return clockFinding(
    CLOCK,
    'the service',
    date + DATE_ERROR_MS / 2 - sentMs,
    tookMs / 2 + DATE_ERROR_MS / 2,
  );
}

async function readyFindings(
  url: string,
  bearer: string,
  now: () => number,
): Promise<readonly Finding[]> {
  const response = await answerOf(`${url}/v1/ready`, { authorization: `Bearer ${bearer}` });
  const body: unknown = await response?.json().catch(() => undefined);
  const ready = readyResponse.safeParse(body);
  if (ready.success) {
    const { schema_version: schema, last_tick_at: tick } = ready.data;
    return [
      ok(READY, `code and database fit, schema ${schema}`),
      checkTick('service.tick', tick, now()),
    ];
  }
  const { detail, code } = problemOf(body);
  if (response?.status === 401 || response?.status === 403) {
    return [
      fail(
        READY,
        `the token is refused: ${detail}`,
        'It must be signed for this deployment and have the scope read.',
      ),
    ];
  }
  const seen = response === undefined ? 'no answer' : `${response.status} ${code}: ${detail}`;
  return [fail(READY, seen, `docs/errors.md says what to do about ${code}.`)];
}

function problemOf(body: unknown): { readonly detail: string; readonly code: string } {
  const { detail, code } = (body ?? {}) as { readonly detail?: unknown; readonly code?: unknown };
  return {
    detail: typeof detail === 'string' ? detail : 'not an answer of this API',
    code: typeof code === 'string' ? code : 'unexpected_answer',
  };
}

async function answerOf(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Response | undefined> {
  try {
    return await fetch(url, {
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    return undefined;
  }
}
