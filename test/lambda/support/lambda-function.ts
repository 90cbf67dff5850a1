import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ContainerAnswer, ContainerEvent } from './container-messages.ts';

const RUNTIME = fileURLToPath(new URL('runtime-process.ts', import.meta.url));

export interface LambdaFunctionOptions {
  /** Folder of the bundle, and `module.export` in it. */
  readonly folder: string;
  readonly handler: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Containers at a time; what comes beyond them waits. */
  readonly concurrency: number;
  readonly log: (line: string) => void;
}

/** How an invocation ended. */
export type InvocationOutcome =
  | Exclude<ContainerAnswer, { kind: 'ready' }>
  /** Its time was over, or the container died; no code of ours ran then. */
  | { readonly kind: 'killed' };

export interface LambdaFunction {
  /** @param depth how many invocations led to this one */
  invoke(event: unknown, depth?: number): Promise<InvocationOutcome>;
  /** Invocations that are running. */
  readonly running: number;
  /** Containers that were started, in all. */
  readonly started: number;
  /** Kills the containers that run, as Lambda does at the end of their time: no code of ours runs then. */
  killRunning(): void;
  close(): Promise<void>;
}

/**
 * Runs the bundle as Lambda would: a process a container, one invocation at a time in each, the same process again for the
 * next, stopped in between, killed when the time is over.
 */
export function createLambdaFunction(options: LambdaFunctionOptions): LambdaFunction {
  const idle: ChildProcess[] = [];
  const all = new Set<ChildProcess>();
  const waiting: (() => void)[] = [];
  let running = 0;
  let started = 0;

  const start = async (): Promise<ChildProcess> => {
    started += 1;
    const child = fork(RUNTIME, [options.folder, options.handler], {
      env: { ...options.env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    all.add(child);
    child.once('exit', () => all.delete(child));
    for (const output of [child.stdout, child.stderr]) {
      if (output !== null) createInterface(output).on('line', options.log);
    }
    const ready = await answerOf(child, options.timeoutMs);
    if (ready.kind !== 'ready') throw new Error(`The container did not start: ${ready.kind}.`);
    return child;
  };

  const runIn = async (
    child: ChildProcess,
    event: unknown,
    depth: number,
  ): Promise<InvocationOutcome> => {
    child.kill('SIGCONT');
    const message: ContainerEvent = {
      event,
      deadlineAt: Date.now() + options.timeoutMs,
      trace: `Root=1-5759e988-bd862e3fe1be46a994272793;Lineage=1:0a1b2c3d:${depth}`,
    };
    child.send(message);
    const answer = await answerOf(child, options.timeoutMs);
    if (answer.kind === 'killed' || answer.kind === 'ready') return { kind: 'killed' };
    child.kill('SIGSTOP');
    idle.push(child);
    return answer;
  };

  return {
    get running() {
      return running;
    },
    get started() {
      return started;
    },
    invoke: async (event, depth = 0) => {
      while (running >= options.concurrency) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      running += 1;
      try {
        return await runIn(idle.pop() ?? (await start()), event, depth);
      } finally {
        running -= 1;
        waiting.shift()?.();
      }
    },
    killRunning: () => {
      for (const child of all) if (!idle.includes(child)) child.kill('SIGKILL');
    },
    close: async () => {
      const gone = [...all].map((child) => new Promise((resolve) => child.once('exit', resolve)));
      for (const child of all) child.kill('SIGKILL');
      await Promise.all(gone);
    },
  };
}

/** The next message of a container, or its death: by its own fault, or killed when the time is over. */
function answerOf(
  child: ChildProcess,
  timeoutMs: number,
): Promise<ContainerAnswer | { readonly kind: 'killed' }> {
  return new Promise((resolve) => {
    const done = (answer: ContainerAnswer | { readonly kind: 'killed' }): void => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      resolve(answer);
    };
    const onMessage = (message: unknown): void => done(message as ContainerAnswer);
    const onExit = (): void => done({ kind: 'killed' });
    const timer = setTimeout(() => void child.kill('SIGKILL'), timeoutMs);
    child.once('message', onMessage);
    child.once('exit', onExit);
  });
}
