import { InvocationType, InvokeCommand } from '@aws-sdk/client-lambda';
import type { LambdaClient } from '@aws-sdk/client-lambda';

import type { Log, Poker } from '../../shared/ports.ts';
import { pokeEventOf } from './event-shape.ts';

export interface InvokePokerOptions {
  readonly client: Pick<LambdaClient, 'send'>;
  /** Name of the worker function. */
  readonly functionName: string;
  readonly log: Log;
}

/**
 * Pokes by invoking the worker function asynchronously: Lambda keeps the event, tries it again when it fails, and answers
 * at once, so nobody pays for waiting and the invocation that pokes may freeze. Who may invoke is said by IAM, so these
 * pokes are not signed.
 *
 * Lambda stops functions that invoke each other about 16 deep; `MAX_POKE_DEPTH` stays below.
 */
export function createInvokePoker({ client, functionName, log }: InvokePokerOptions): Poker {
  return {
    async send(poke) {
      try {
        await client.send(
          new InvokeCommand({
            FunctionName: functionName,
            InvocationType: InvocationType.Event,
            Payload: new TextEncoder().encode(JSON.stringify(pokeEventOf(poke))),
          }),
        );
        return 'sent';
      } catch (error) {
        log.warn('poke_failed', {
          queue: poke.queue,
          depth: poke.depth,
          reason: error instanceof Error ? error.name : 'unknown',
        });
        return 'failed';
      }
    },
  };
}
