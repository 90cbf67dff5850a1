import { handlerRegistry } from '../shared/handler-registry.ts';
import type { Log, Poker } from '../shared/ports.ts';
import { LeaseholdError } from '../shared/errors.ts';
import { createApp } from './app.ts';
import type { Background } from './background.ts';
import { createIsolateDeps } from './deps.ts';
import type { AppDeps, IsolateDeps } from './deps.ts';
import { HANDLERS } from './handlers/index.ts';
import { createJsonLog } from './json-log.ts';
import { problemResponse } from './middleware/problem.ts';
import { createNoPoker, createPoker } from './poker.ts';
import { tick } from './scheduled/tick.ts';
import { NO_WAKE_CLOCK } from './wake/no-wake-clock.ts';
import { webClock, webIds } from './web-ports.ts';

/**
 * The Cloudflare entry: turns requests and cron events of Workers into calls of the platform-free app.
 *
 * **Pokes go through the service binding `SELF`.** A Worker cannot `fetch` its own hostname: within its zone that goes
 * past Workers to the origin, and on workers.dev it is error 1042. The binding works, with three limits to know:
 * it shares CPU time, subrequests and the six connections of the request that started the chain; calls from Worker to
 * Worker stop 16 deep (`MAX_POKE_DEPTH` stays below); and work after an answer gets 30 s. So chains are short, and the
 * drain, which starts with a fresh budget, is what empties a long queue. `POKE_URL` is for deployments without it.
 */
export interface WorkerEnv {
  /** This Worker, bound to itself. */
  readonly SELF?: Fetcher;
  /** Variables and secrets, see `Config`. */
  readonly [name: string]: unknown;
}

/**
 * What a handler behind a poke can count on: the poke waits in `waitUntil`, which ends 30 s after the caller's answer,
 * and the vendor's pages disagree whether an HTTP request itself may take longer.
 */
const INVOCATION_MS = 30_000;

const HANDLER_REGISTRY = handlerRegistry(HANDLERS);

/** Per isolate and environment; holds constants and what can be lost, no promise and no connection. */
const ISOLATES = new WeakMap<WorkerEnv, IsolateDeps>();

export default {
  async fetch(request, env, execution): Promise<Response> {
    try {
      return await createApp(invocationDeps(env, execution)).fetch(request);
    } catch (error) {
      return notConfigured(error);
    }
  },

  async scheduled(_controller, env, execution): Promise<void> {
    try {
      await tick(invocationDeps(env, execution));
    } catch (error) {
      const code = error instanceof LeaseholdError ? error.code : 'internal_error';
      logOf().error('tick_failed', { code });
      throw error; // the platform shows the event as failed
    }
  },
} satisfies ExportedHandler<WorkerEnv>;

function invocationDeps(env: WorkerEnv, execution: ExecutionContext): AppDeps {
  const isolate = isolateDeps(env);
  return {
    ...isolate,
    background: backgroundOf(execution),
    poker: pokerOf(env, isolate),
    wake: NO_WAKE_CLOCK,
    invocationMs: INVOCATION_MS,
  };
}

function isolateDeps(env: WorkerEnv): IsolateDeps {
  const kept = ISOLATES.get(env);
  if (kept !== undefined) return kept;
  const made = createIsolateDeps(env, HANDLER_REGISTRY);
  ISOLATES.set(env, made);
  return made;
}

function backgroundOf(execution: ExecutionContext): Background {
  return { run: (task) => execution.waitUntil(task()) };
}

function pokerOf(env: WorkerEnv, isolate: IsolateDeps): Poker {
  const { config, log } = isolate;
  const [key] = config.pokeSecrets;
  const { SELF: self } = env;
  const baseUrl = self === undefined ? config.pokeUrl : new URL('https://leasehold.internal');
  if (key === undefined || baseUrl === undefined) return createNoPoker(log);
  return createPoker({
    ...isolate,
    baseUrl,
    key: key.reveal(),
    fetch: (request) => (self === undefined ? fetch(request) : self.fetch(request)),
  });
}

/** Only wrong settings end here. The log names them for whoever deployed this; the caller learns nothing. */
function notConfigured(error: unknown): Response {
  if (error instanceof LeaseholdError) {
    for (const { path, message } of error.problems) {
      logOf().error('config_invalid', { setting: path, rule: message });
    }
  }
  return problemResponse(error, webIds.uuidv7());
}

function logOf(): Log {
  return createJsonLog(webClock);
}
