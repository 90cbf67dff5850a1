import { randomUUID } from 'node:crypto';
import type { BoardHarness } from './board-harness.ts';

/** A program that leases jobs over HTTP, as autonomous agents do. */
export interface Agent {
  readonly name: string;
  /** Calls the API in the agent's name, and gives the answer's body. */
  call(method: string, path: string, body?: object): Promise<unknown>;
  /** The next job of a queue; fails when there is none. */
  claim(queue: string, leaseSeconds?: number): Promise<HeldJob>;
}

export interface HeldJob {
  readonly id: string;
  readonly note: string | null;
  /** Tells where it is; the lease goes on. */
  progress(marker: string): Promise<void>;
  complete(result?: unknown): Promise<void>;
  fail(code: string, message: string, retryAfterSeconds?: number): Promise<void>;
  /** Asks a person. */
  ask(question: string): Promise<void>;
}

export async function createAgent(
  { deployment, worker }: Pick<BoardHarness, 'deployment' | 'worker'>,
  name: string,
): Promise<Agent> {
  const token = await deployment.token({
    subject: name,
    scopes: ['enqueue', 'work', 'read', 'operate'],
  });
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${worker.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  return {
    name,
    call,
    claim: async (queue, leaseSeconds = 120) => {
      const { jobs } = (await call('POST', `/v1/queues/${queue}/claims`, {
        claim_id: randomUUID(),
        lease_seconds: leaseSeconds,
      })) as { readonly jobs: readonly Claimed[] };
      const [job] = jobs;
      if (job === undefined) throw new Error(`${queue} has no job to claim`);
      return heldJob(call, job);
    },
  };
}

interface Claimed {
  readonly id: string;
  readonly fencing_token: string;
  readonly note: string | null;
}

function heldJob(call: Agent['call'], { id, fencing_token, note }: Claimed): HeldJob {
  let step = 0;
  const report = async (verb: string, body: object): Promise<void> => {
    await call('POST', `/v1/leases/${id}/${verb}`, { fencing_token, ...body });
  };
  return {
    id,
    note,
    progress: (marker) => report('heartbeat', { step: (step += 1), progress: marker }),
    complete: (result = null) => report('complete', { result }),
    fail: (code, message, retryAfterSeconds = 0) =>
      report('fail', { error: { code, message }, retry_after_seconds: retryAfterSeconds }),
    ask: (question) => report('escalate', { question }),
  };
}
