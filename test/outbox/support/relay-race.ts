import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';

import type { Receiver } from '../../push/support/receiver.ts';
import { appendMany, pendingCount } from './outbox.ts';
import type { RelayProcessOptions } from './relay-process.ts';

export interface RelayRaceInput {
  readonly pool: pg.Pool;
  /** Of the `/sql` endpoint that the relays use. */
  readonly connectionString: string;
  readonly receiver: Receiver;
  readonly key: string;
  readonly relays: number;
  readonly aggregates: number;
  readonly eventsPerAggregate: number;
  /** One relay is killed, and another started, each time so many more requests have come. */
  readonly killEvery: number;
  readonly kills: number;
  /** Leases end with the invocation, so this is what a killed relay holds its shard for. */
  readonly invocationMs: number;
  readonly progress?: (line: string) => void;
}

export interface RelayRaceReport {
  readonly requests: number;
  readonly events: number;
  /** Requests beyond the first of their event. */
  readonly duplicates: number;
  readonly kills: number;
  /** Aggregates whose events came for the first time in another order than their versions, or not at all. */
  readonly disordered: readonly string[];
  /** Requests whose signature did not verify. */
  readonly unsigned: number;
  readonly milliseconds: number;
}

interface Envelope {
  readonly aggregateid: string;
  readonly aggregateversion: string;
}

/**
 * Relays in processes of their own publish a backlog to a receiver in another one; some are killed with SIGKILL while they
 * publish. Ends when nothing waits any more.
 */
export async function relayRace(input: RelayRaceInput): Promise<RelayRaceReport> {
  const { pool, receiver, aggregates, eventsPerAggregate } = input;
  for (let i = 0; i < aggregates; i += 1) await appendMany(pool, `race ${i}`, eventsPerAggregate);
  const startedAt = Date.now();
  const relays = Array.from({ length: input.relays }, () => startRelay(input));
  let kills = 0;
  try {
    while ((await pendingCount(pool)) > 0) {
      await pause(20);
      input.progress?.(`${receiver.received.length} requests, ${kills} kills`);
      if (kills >= input.kills || receiver.received.length < input.killEvery * (kills + 1)) {
        continue;
      }
      const victim = relays.shift();
      if (victim !== undefined) await kill(victim);
      relays.push(startRelay(input));
      kills += 1;
    }
  } finally {
    await Promise.all(relays.map(kill));
  }
  return report(input, kills, Date.now() - startedAt);
}

function startRelay({
  connectionString,
  receiver,
  key,
  invocationMs,
}: RelayRaceInput): ChildProcess {
  const file = fileURLToPath(new URL('./relay-process.ts', import.meta.url));
  const options: RelayProcessOptions = {
    connectionString,
    url: receiver.url('/events'),
    key,
    invocationMs,
  };
  return fork(file, [JSON.stringify(options)], {
    execArgv: ['--experimental-strip-types', '--no-warnings'],
  });
}

/** SIGKILL: no clean-up code runs. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function report(input: RelayRaceInput, kills: number, milliseconds: number): RelayRaceReport {
  const { received } = input.receiver;
  const seen = new Set<string>();
  const firsts = new Map<string, number[]>();
  for (const { headers, body } of received) {
    const id = String(headers['webhook-id']);
    if (seen.has(id)) continue;
    seen.add(id);
    const event = JSON.parse(Buffer.from(body, 'base64').toString()) as Envelope;
    const versions = firsts.get(event.aggregateid) ?? [];
    versions.push(Number(event.aggregateversion));
    firsts.set(event.aggregateid, versions);
  }
  const disordered = Array.from({ length: input.aggregates }, (_, i) => `race ${i}`).filter(
    (name) => {
      const versions = firsts.get(name) ?? [];
      return (
        versions.length !== input.eventsPerAggregate ||
        versions.some((version, at) => version !== at + 1)
      );
    },
  );
  return {
    requests: received.length,
    events: seen.size,
    duplicates: received.length - seen.size,
    kills,
    disordered,
    unsigned: received.filter(({ verdicts }) => verdicts.some((one) => one !== 'verified')).length,
    milliseconds,
  };
}
