import { LambdaClient } from '@aws-sdk/client-lambda';
import { SchedulerClient } from '@aws-sdk/client-scheduler';

import { handlerRegistry } from '../../shared/handler-registry.ts';
import { awsLambda } from '../../shared/platform.ts';
import type { Poker } from '../../shared/ports.ts';
import type { WakeClock } from '../../shared/wake/wake-clock.ts';
import { createIsolateDeps } from '../deps.ts';
import type { AppDeps, IsolateDeps } from '../deps.ts';
import { HANDLERS } from '../handlers/index.ts';
import { createJsonLog } from '../json-log.ts';
import { createNoPoker, createPoker } from '../poker.ts';
import { awsPublisher } from '../publish/aws-publisher.ts';
import { createEventBridgeWakeClock } from '../wake/eventbridge-wake-clock.ts';
import { NO_WAKE_CLOCK } from '../wake/no-wake-clock.ts';
import { webClock } from '../web-ports.ts';
import { CLIENT_OPTIONS } from './client-options.ts';
import { containerEnvironment, printLine } from './environment.ts';
import { createLayerAssets } from './layer-assets.ts';
import { drainEventOf } from './event-shape.ts';
import { createInvokePoker } from './invoke-poker.ts';
import { nodeOutbound } from './node-outbound.ts';
import { readSecrets } from './read-secrets.ts';
import { parseLambdaSettings } from './settings.ts';
import type { LambdaSettings } from './settings.ts';

/** What outlives an invocation: constants, and values that can be lost. */
export interface ContainerDeps extends IsolateDeps {
  readonly poker: Poker;
  readonly wake: WakeClock;
  readonly assets?: NonNullable<AppDeps['assets']>;
  /** See `LambdaSettings`, in milliseconds. */
  readonly takesMoreMs: number;
}

export interface Container {
  /** The log, which is there even when the settings are wrong. */
  readonly log: IsolateDeps['log'];
  /**
   * Made at the first call and kept; a failure is not kept, so the next invocation tries again.
   *
   * @throws {LeaseholdError} `config_invalid` with all faults
   */
  deps(): Promise<ContainerDeps>;
}

/** One a process: Lambda runs one invocation at a time in it. */
export function createContainer(): Container {
  const log = createJsonLog(webClock, (_level, line) => printLine(line));
  let kept: ContainerDeps | undefined;
  return {
    log,
    deps: async () => {
      if (kept !== undefined) return kept;
      const variables = containerEnvironment();
      const settings = parseLambdaSettings(variables);
      const { workerTimeoutSeconds, takesMoreSeconds } = settings;
      // A job that is taken last has this time left, and no less.
      const platform = awsLambda(workerTimeoutSeconds - takesMoreSeconds);
      const handlers = handlerRegistry(HANDLERS, platform);
      const secrets = settings.secrets === undefined ? {} : await readSecrets(settings.secrets);
      const isolate = createIsolateDeps({ ...secrets, ...given(variables) }, handlers, {
        log,
        outbound: nodeOutbound,
        awsPublisher: (target) => awsPublisher(target),
      });
      kept = {
        ...isolate,
        poker: pokerOf(settings, isolate),
        wake: wakeOf(settings, isolate),
        ...(settings.boardAssets === undefined
          ? {}
          : { assets: createLayerAssets(settings.boardAssets) }),
        takesMoreMs: takesMoreSeconds * 1000,
      };
      return kept;
    },
  };
}

/** An empty variable is one that is not given: it takes nothing away from what the secrets hold. */
function given(
  variables: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
}

function pokerOf({ workerFunction }: LambdaSettings, isolate: IsolateDeps): Poker {
  const { config, log } = isolate;
  if (workerFunction !== undefined) {
    const client = new LambdaClient(CLIENT_OPTIONS);
    return createInvokePoker({ client, functionName: workerFunction, log });
  }
  const [key] = config.pokeSecrets;
  if (key === undefined || config.pokeUrl === undefined) return createNoPoker(log);
  return createPoker({
    ...isolate,
    baseUrl: config.pokeUrl,
    key: key.reveal(),
    fetch: (request) => fetch(request),
  });
}

function wakeOf({ wake }: LambdaSettings, { config, clock, ids }: IsolateDeps): WakeClock {
  if (wake === undefined || !config.timedWakes) return NO_WAKE_CLOCK;
  return createEventBridgeWakeClock({
    client: new SchedulerClient(CLIENT_OPTIONS),
    target: wake,
    input: JSON.stringify(drainEventOf()),
    clock,
    ids,
  });
}
