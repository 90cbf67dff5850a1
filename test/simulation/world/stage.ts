import { GaveUp, type Actor, type Steps } from './actor.ts';
import type { Control } from './control.ts';
import type { World } from './world.ts';

/** How long a statement may take before it is asked whether it waits for a lock. */
const LOOK_AFTER_MS = 2;

interface Part {
  readonly role: string;
  /** A fresh process of this role. */
  readonly start: () => { readonly actor: Actor; readonly steps: Steps };
  actor: Actor;
  steps: Steps;
  ended: boolean;
  /** A step that waits for another transaction. */
  waiting: boolean;
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

  add(role: string, start: Part['start']): void {
    this.#parts.push({ role, start, ...start(), ended: false, waiting: false });
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
    const ready = this.#parts.filter(({ ended, waiting }) => !ended && !waiting);
    const part = this.#world.random.pick(ready);
    if (part === undefined) return await this.#cutSomeoneFree();
    this.#world.tally.steps += 1;
    const { actor } = part;
    part.waiting = true;
    const going = part.steps.next().then(
      ({ done }) => {
        if (part.actor === actor) this.#rest(part, done === true);
      },
      (error: unknown) => {
        if (part.actor === actor) this.#stumble(part, error);
      },
    );
    await this.#untilStill(part, going);
    for (const other of this.#parts)
      if (other.waiting && other !== part) await this.#untilStill(other);
  }

  /** An actor's process dies: its transaction goes with it, and another takes its place. */
  async kill(): Promise<void> {
    const part = this.#world.random.pick(this.#parts.filter(({ role }) => role !== 'reader'));
    if (part === undefined) return;
    part.actor.note('is killed');
    await this.#cut([part.actor]);
    await this.#settle();
    if (part.ended) return;
    Object.assign(part, part.start(), { waiting: false });
    this.#world.tally.kills += 1;
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
    await this.#cut(this.actors);
    await this.#settle();
    for (const part of this.#parts) {
      part.ended = true;
      part.actor.session.close();
    }
  }

  #rest(part: Part, ended: boolean): void {
    part.waiting = false;
    part.ended ||= ended;
  }

  /** A caller that gave up, or met an error, has ended; one of the same role starts afresh. */
  #stumble(part: Part, error: unknown): void {
    part.waiting = false;
    const { actor } = part;
    if (error instanceof GaveUp) actor.note(`gives up: ${error.message}`);
    else this.#world.fail(actor.name, error);
    actor.session.close();
    Object.assign(part, part.start());
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
  async #untilStill(part: Part, going?: Promise<void>): Promise<void> {
    const { actor } = part;
    if (going !== undefined) await Promise.race([going, soon()]);
    while (part.waiting && part.actor === actor) {
      const rows = await this.#control.query<{ blocked: boolean }>(
        'select cardinality(pg_blocking_pids($1)) > 0 as blocked',
        [actor.session.pid],
      );
      if (!part.waiting) return;
      if (rows[0]?.blocked === true) {
        if (going !== undefined) this.#world.tally.waits += 1;
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
