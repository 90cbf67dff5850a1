import type { Sql } from '../../../shared/ports.ts';
import type { SeededRandom } from './random.ts';
import { isPassing, type Session } from './session.ts';
import type { World } from './world.ts';

/** What an actor does, one step after another; at each yield another may go first. */
export type Steps<Result = void> = AsyncGenerator<void, Result>;

/** The caller stops trying, as after the last retry. It does not know whether the call was carried out. */
export class GaveUp extends Error {}

/** The caller takes back what it did in its transaction. */
export class RolledBack extends Error {}

const TRIES = 6;

/** A process that calls the database over a network that loses and delays answers. */
export class Actor {
  readonly name: string;
  readonly world: World;
  readonly random: SeededRandom;
  readonly session: Session;
  /** How far the clock of its machine is off, in milliseconds. */
  clockError = 0;

  constructor(name: string, world: World, session: Session, random: SeededRandom) {
    this.name = name;
    this.world = world;
    this.session = session;
    this.random = random;
  }

  /** By the clock of its own machine. */
  get localNow(): number {
    return this.world.now + this.clockError;
  }

  note(what: string): void {
    this.world.note(this.name, what);
  }

  uuid(): string {
    return this.world.uuid(this.random);
  }

  /** Lets others go on for some steps. */
  async *pause(steps: number): Steps {
    for (let i = 0; i < steps; i += 1) yield;
  }

  /**
   * One call, in a transaction of its own, repeated as the driver repeats it: the same call with the same ids. Its request
   * or its answer may be lost, and others may go on between the statement and its commit.
   *
   * @param options.held steps that its commit waits at least
   * @param options.reportsOn the job of a report: how long it waits for the job's row is kept
   * @throws {GaveUp} after the last try; the outcome is unknown
   */
  async *ask<Answer>(
    what: string,
    call: (sql: Sql) => Promise<Answer>,
    { held = 0, reportsOn }: { readonly held?: number; readonly reportsOn?: string } = {},
  ): Steps<Answer> {
    const { world, random, session } = this;
    const { weather, tally } = world;
    for (let tries = 0; tries < TRIES; tries += 1) {
      yield;
      if (random.chance(weather.lostBefore)) {
        tally.lostAnswers += 1;
        this.note(`${what}: the request is lost`);
        yield* this.pause(random.below(6));
        continue;
      }
      const lost = random.chance(weather.lostAfter);
      const slow = random.chance(weather.slow);
      let answer: Answer;
      try {
        await session.begin();
        const sentAt = world.now;
        answer = await call(session.sql);
        if (reportsOn !== undefined) world.waited(reportsOn, world.now - sentAt);
        yield* this.pause(held);
        while (random.chance(weather.heldCommits)) yield;
        await session.commit();
      } catch (error) {
        await session.rollback();
        if (!isPassing(error)) throw error;
        tally.retries += 1;
        this.note(`${what}: ${error instanceof Error ? error.message : 'failed'}; again`);
        continue;
      }
      if (slow) yield* this.pause(random.between(3, 25));
      if (lost) {
        tally.lostAnswers += 1;
        this.note(`${what}: the answer is lost: ${JSON.stringify(answer)}`);
        yield* this.pause(random.below(6));
        continue;
      }
      this.note(`${what}: ${JSON.stringify(answer)}`);
      return answer;
    }
    throw new GaveUp(what);
  }
}
