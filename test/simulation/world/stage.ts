import { GaveUp, type Actor, type Steps } from './actor.ts';
import type { Control } from './control.ts';
import type { Session } from './session.ts';
import type { World } from './world.ts';

const START = { ended: false, waiting: false, going: Promise.resolve(), life: 1 };
/** How long a statement may take before it is asked whether it waits for a lock. */
const LOOK_AFTER_MS = 2;

interface Part {
  readonly role: string;
  readonly weight: number;
  /** A fresh process of this role. */
  readonly start: () => { readonly actor: Actor; readonly steps: Steps };
  actor: Actor;
  steps: Steps;
  ended: boolean;
  /** A step that waits for another transaction. */
  waiting: boolean;
  going: Promise<void>;
  /** Counts the processes that have had this part. */
  life: number;
}

interface Killed {
  readonly session: Session;
  readonly waiting: boolean;
  readonly going: Promise<void>;
}

/**
 * Lets actors go on one at a time. A step whose statement waits for another transaction is left waiting, and the others go
 * on; before each step it is settled who waits and who does not, so that a seed sees the same order again.
 */
export class Stage {
  readonly #world: World;
  readonly #control: Control;
  readonly #parts: Part[] = [];

  constructor(world: World, control: Control) {
    this.#world = world;
    this.#control = control;
  }

  /** @param weight how often it goes on, beside the others */
  add(role: string, weight: number, start: Part['start']): void {
    this.#parts.push({ role, weight, start, ...start(), ...START });
  }

  get actors(): readonly Actor[] {
    return this.#parts.map(({ actor }) => actor);
  }

  /** Whether all of a role have come to their end. */
  hasEnded(role: string): boolean {
    return this.#parts.every((part) => part.role !== role || part.ended);
  }

  /** One step of one actor that does not wait. */
  async step(): Promise<void> {
    await this.#stepOf(this.#parts.filter(({ ended, waiting }) => !ended && !waiting));
  }

  /** Those of a role go on until none of them has a transaction open, but for one that waits for somebody else. */
  async letCommit(role: string): Promise<void> {
    for (;;) {
      const open = this.#parts.filter(
        (part) => part.role === role && part.actor.session.isOpen && !part.waiting && !part.ended,
      );
      if (open.length === 0) return;
      await this.#stepOf(open);
    }
  }

  async #stepOf(ready: readonly Part[]): Promise<void> {
    const part = this.#world.random.pick(ready.flatMap((one) => Array<Part>(one.weight).fill(one)));
    if (part === undefined) return await this.#cutSomeoneFree();
    this.#world.tally.steps += 1;
    const { life } = part;
    part.waiting = true;
    part.going = part.steps.next().then(
      ({ done }) => {
        if (part.life === life) this.#rest(part, done === true);
      },
      async (error: unknown) => {
        if (part.life === life) await this.#stumble(part, error);
      },
    );
    await this.#untilStill(part, true);
    for (const other of this.#parts)
      if (other.waiting && other !== part) await this.#untilStill(other);
  }

  /** An actor's process dies: its transaction goes with it, and another takes its place. */
  async kill(): Promise<void> {
    const part = this.#world.random.pick(this.#parts.filter(({ role }) => role !== 'reader'));
    if (part === undefined || part.ended) return;
    part.actor.note('is killed');
    const killed = this.#replace(part, part.start());
    this.#world.tally.kills += 1;
    await this.#bury([killed]);
    await this.#settle();
  }

  /** A connection is cut; the actor goes on over a new one. */
  async reset(): Promise<void> {
    const actor = this.#world.random.pick(this.actors);
    if (actor === undefined) return;
    actor.note('loses its connection');
    await this.#cut([actor]);
    await this.#settle();
    this.#world.tally.resets += 1;
  }

  /** All connections are cut; with `crash`, because the server dies. */
  async restart(crash: boolean): Promise<void> {
    this.#world.note('database', 'restarts');
    if (crash) await this.#control.crashServer();
    await this.#cut(this.actors);
    await this.#settle();
    this.#world.tally.restarts += 1;
  }

  /** Everybody's process dies, and nobody takes their place. */
  async end(): Promise<void> {
    for (const part of this.#parts) part.ended = true;
    await this.#bury(this.#parts.map((part) => this.#replace(part, part)));
  }

  /** Takes a process off its part; what it does from now on does not count. */
  #replace(part: Part, { actor, steps }: Pick<Part, 'actor' | 'steps'>): Killed {
    const killed = { session: part.actor.session, waiting: part.waiting, going: part.going };
    Object.assign(part, { actor, steps, waiting: false, life: part.life + 1 });
    return killed;
  }

  /** What the database does when processes are gone: it ends their statements, all at once, and their transactions. */
  async #bury(killed: readonly Killed[]): Promise<void> {
    const pids = killed.filter(({ waiting }) => waiting).map(({ session }) => session.pid);
    if (pids.length > 0) {
      await this.#control.query('select pg_cancel_backend(p) from unnest($1::int[]) p', [pids]);
    }
    for (const { going } of killed) await going;
    for (const { session } of killed) await session.release();
  }

  #rest(part: Part, ended: boolean): void {
    part.waiting = false;
    part.ended ||= ended;
  }

  /** A caller that gave up, or met an error, has ended; one of the same role starts afresh. */
  async #stumble(part: Part, error: unknown): Promise<void> {
    part.waiting = false;
    const { actor } = part;
    if (error instanceof GaveUp) actor.note(`gives up: ${error.message}`);
    else this.#world.fail(actor.name, error);
    const { session } = this.#replace(part, part.start());
    await session.release();
  }

  async #cut(actors: readonly Actor[]): Promise<void> {
    const pids = actors.map(({ session }) => session.pid).filter((pid) => pid > 0);
    await this.#control.query('select pg_terminate_backend(p) from unnest($1::int[]) p', [pids]);
    for (;;) {
      const left = await this.#control.query(
        'select 1 from pg_stat_activity where pid = any ($1::int[])',
        [pids],
      );
      if (left.length === 0) break;
    }
    for (const { session } of actors) session.close();
  }

  async #settle(): Promise<void> {
    for (const part of this.#parts) if (part.waiting) await this.#untilStill(part);
  }

  /** Resolves when the step has ended, or its statement waits for a lock. */
  async #untilStill(part: Part, fresh = false): Promise<void> {
    const { actor, life } = part;
    if (fresh) await Promise.race([part.going, soon()]);
    while (part.waiting && part.life === life) {
      const rows = await this.#control.query<{ blocked: boolean }>(
        'select cardinality(pg_blocking_pids($1)) > 0 as blocked',
        [actor.session.pid],
      );
      if (!part.waiting) return;
      if (rows[0]?.blocked === true) {
        if (fresh) this.#world.tally.waits += 1;
        return;
      }
    }
  }

  /** All wait for each other, and the database has not seen it yet: it will. */
  async #cutSomeoneFree(): Promise<void> {
    await soon();
    await this.#settle();
  }
}

function soon(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, LOOK_AFTER_MS);
  });
}
