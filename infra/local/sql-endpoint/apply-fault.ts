import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { madeUpSqlError } from './error-response.ts';
import type { Fault } from './faults.ts';
import { ClientGoneError } from './run-statement.ts';
import { sendJson } from './send-json.ts';

type Verdict = 'answered' | 'go on';

/** The part of a fault that comes before anything is executed. */
export async function failBefore(
  fault: Fault | undefined,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<Verdict> {
  if (fault?.kind === 'drop_before') {
    response.destroy();
    return 'answered';
  }
  if (fault?.kind === 'status') {
    sendJson(response, fault.status, fault.body ?? '{"message":"fault injected"}');
    return 'answered';
  }
  if (fault?.kind === 'sql_error') {
    throw madeUpSqlError(fault.code, fault.message ?? 'fault injected');
  }
  if (fault?.kind === 'delay') {
    await pause(fault.ms, undefined, { signal: gone }).catch(() => {
      throw new ClientGoneError();
    });
  }
  return 'go on';
}

/** The part of a fault that comes after everything is committed. */
export function failAfter(
  fault: Fault | undefined,
  response: ServerResponse,
  body: string,
): Verdict {
  if (fault?.kind === 'drop_after_commit') {
    response.destroy();
    return 'answered';
  }
  if (fault?.kind === 'truncate') {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.write(body.slice(0, body.length / 2), () => response.destroy());
    return 'answered';
  }
  return 'go on';
}
