import { pause } from '../../shared/bounded-wait.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import type { JsonObject } from '../../shared/json-value.ts';
import {
  FEED_GAP_MS,
  FEED_OVERVIEW_GAP_MS,
  MAX_FEED_RETRY_MS,
  MAX_STREAM_MS,
  MAX_UNSETTLED_LOOK_MS,
  MIN_RETURN_MS,
  MIN_UNSETTLED_LOOK_MS,
  STREAM_HEARTBEAT_MS,
} from '../../shared/limits.ts';
import type { Clock, Log, Random, Timer } from '../../shared/ports.ts';
import type { LogChangesPage, LogPlace } from '../../shared/queue/log-changes.ts';
import { catchUp } from './catch-up.ts';
import type { KnownPlace } from './catch-up.ts';
import type { LiveFeed, ViewerRequest } from './live-feed.ts';
import { compareCursors, laterCursor } from './log-order.ts';
import { RecentChanges, isAfter } from './recent-changes.ts';
import { Viewer } from './viewer.ts';
import type { SharedTexts } from './viewer.ts';
import { Viewers } from './viewers.ts';

export interface FeedHubOptions {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly log: Log;
  /** A page of changes after a place; without one, where the log ends now. */
  readonly read: (place?: KnownPlace) => Promise<LogChangesPage>;
  /** The body of `GET /v1/overview`. */
  readonly overview?: () => Promise<JsonObject>;
  /** Where no hints come: milliseconds between two looks while somebody watches. */
  readonly paceMs?: number;
  /** Milliseconds that a stream may take, up to `MAX_STREAM_MS`, which is also what it takes without this. */
  readonly maxStreamMs?: number;
}

const NEVER = Number.POSITIVE_INFINITY;

/**
 * Reads the event log once for all viewers. It looks when it is told that something has changed, and again soon after while
 * something lies above a transaction that still runs; without viewers it does nothing. All it keeps can be lost: a viewer
 * comes back with the cursor that it has, and is brought up from there.
 */
export class FeedHub implements LiveFeed {
  readonly #options: FeedHubOptions;
  readonly #viewers = new Viewers();
  /** How far the log is read; undefined: from where it ends next time that anybody looks. */
  #place: LogPlace | undefined;
  #recent = new RecentChanges('0_j0');
  /** Something has changed while nobody watched. */
  #isBehind = false;
  /** Local milliseconds of the next look, of the one before, and of the overview. */
  #lookAt = NEVER;
  #lookedAt = -NEVER;
  #overviewAt = NEVER;
  #overviewReadAt = -NEVER;
  #unsettledLooks = 0;
  #failures = 0;
  /** Ends the pause before the next look, and before the next heartbeat; undefined: there is none. */
  #lookPause: AbortController | undefined;
  #beatPause: AbortController | undefined;
  #looks = false;
  #beats = false;
  readonly #waiting = new Set<() => void>();
  readonly #pages = new Map<string, Promise<LogChangesPage>>();

  constructor(options: FeedHubOptions) {
    this.#options = options;
  }

  /** How many watch. */
  get viewers(): number {
    return this.#viewers.size;
  }

  /** Bytes that they have not taken. */
  get backlog(): number {
    return this.#viewers.backlog;
  }

  changed(): void {
    if (this.#viewers.size === 0) {
      this.#isBehind = true;
      return;
    }
    this.#lookBy(this.#lookedAt + FEED_GAP_MS);
    this.#startLooks();
  }

  /** @throws {LeaseholdError} `feed_full` beyond `MAX_FEED_VIEWERS` */
  async open(request: ViewerRequest): Promise<ReadableStream<Uint8Array>> {
    this.#viewers.requireRoom();
    const { clock, paceMs, maxStreamMs = MAX_STREAM_MS } = this.#options;
    const boundAt = clock.now() + Math.min(maxStreamMs, MAX_STREAM_MS);
    const { endsAt = NEVER } = request;
    const viewer = new Viewer({
      request,
      endsAt: Math.min(boundAt, endsAt),
      endReason: endsAt < boundAt ? 'token' : 'time',
      onGone: (gone) => this.#forget(gone),
    });
    // Where the log ended for the viewers before is not where it ends now, unless nothing was heard of since: one viewer who
    // comes back every few minutes must not keep a database awake.
    if (this.#viewers.size === 0 && (this.#isBehind || paceMs !== undefined)) {
      this.#place = undefined;
      this.#isBehind = false;
    }
    this.#viewers.add(viewer);
    void catchUp(viewer, {
      place: () => this.#place && { cursor: this.#place.cursor, recent: this.#recent },
      ready: async (of) => await this.#ready(of),
      page: async (place) => await this.#page(place),
      overviewIsDue: () => this.#overviewIsDue(),
      rest: async () => void (await pause(this.#options.timer, MAX_FEED_RETRY_MS)),
    });
    this.#startLooks();
    this.#startBeats();
    return viewer.stream;
  }

  #forget(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    this.#wakeWaiting();
    if (this.#viewers.size > 0) return;
    // A look was still to come: for what was heard of, or for what lies above a transaction that runs.
    if (this.#lookAt !== NEVER) this.#isBehind = true;
    this.#lookPause?.abort();
    this.#beatPause?.abort();
  }

  async #ready(viewer: Viewer): Promise<void> {
    while (this.#place === undefined && !viewer.gone) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  #wakeWaiting(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  async #page(place: KnownPlace): Promise<LogChangesPage> {
    this.#viewers.cutSlowest();
    const key = JSON.stringify(place);
    const asked = this.#pages.get(key);
    if (asked !== undefined) return await asked;
    const page = this.#options.read(place).finally(() => this.#pages.delete(key));
    this.#pages.set(key, page);
    return await page;
  }

  #overviewIsDue(): void {
    const at = Math.max(this.#options.clock.now(), this.#overviewReadAt + FEED_OVERVIEW_GAP_MS);
    this.#overviewAt = Math.min(this.#overviewAt, at);
    this.#startLooks();
  }

  #lookBy(at: number): void {
    this.#lookAt = Math.min(this.#lookAt, at);
  }

  #startLooks(): void {
    if (this.#looks) this.#lookPause?.abort();
    else void this.#keepLooking();
  }

  async #keepLooking(): Promise<void> {
    const { clock, timer } = this.#options;
    this.#looks = true;
    while (this.#viewers.size > 0) {
      if (this.#place === undefined) this.#lookBy(this.#failures === 0 ? -NEVER : this.#lookAt);
      const next = Math.min(this.#lookAt, this.#overviewAt);
      if (next === NEVER) break;
      const now = clock.now();
      if (this.#lookAt <= now) await this.#look();
      else if (this.#overviewAt <= now) await this.#readOverview();
      else {
        this.#lookPause = new AbortController();
        await pause(timer, next - now, this.#lookPause.signal);
        this.#lookPause = undefined;
      }
    }
    this.#looks = false;
  }

  /** One page of changes for everybody who is live. */
  async #look(): Promise<void> {
    const { clock, log, read, paceMs = NEVER } = this.#options;
    const from = this.#place;
    this.#lookAt = NEVER;
    this.#lookedAt = clock.now();
    try {
      const page = await read(from);
      this.#failures = 0;
      // What was sent with the look before had time to be taken.
      this.#viewers.cutSlowest();
      if (from === undefined) this.#recent = new RecentChanges(page.place.cursor);
      else this.#recent.add(page);
      this.#place = page.place;
      this.#tellChanges(page);
      if (!page.unsettled || page.events.length > 0) this.#unsettledLooks = 0;
      if (page.unsettled) this.#unsettledLooks += 1;
      if (page.more) this.#lookBy(clock.now());
      if (page.unsettled) this.#lookBy(clock.now() + unsettledPauseMs(this.#unsettledLooks));
      this.#lookBy(clock.now() + paceMs);
      if (page.events.length > 0) this.#overviewIsDue();
    } catch (error) {
      log.warn('feed_read_failed', { code: codeOf(error) });
      this.#failures += 1;
      this.#lookBy(clock.now() + Math.min(FEED_GAP_MS * 2 ** this.#failures, MAX_FEED_RETRY_MS));
      // A cursor that the database does not know: it is another one by now. Viewers find out as they come back.
      if (isForeign(error)) this.#startAnew();
    }
    this.#wakeWaiting();
  }

  #tellChanges(page: LogChangesPage): void {
    if (page.events.length === 0) {
      for (const viewer of this.#viewers) {
        if (viewer.live) viewer.at = laterCursor(viewer.at ?? page.place.cursor, page.place.cursor);
      }
      return;
    }
    const { cursor } = page.place;
    const texts: SharedTexts = new Map();
    const first = page.events.find((event) => event.cursor !== null)?.cursor ?? undefined;
    for (const viewer of this.#viewers) {
      const { at } = viewer;
      if (!viewer.live || at === undefined) continue;
      if (first === undefined || compareCursors(at, first) < 0)
        viewer.sendChanges(page, cursor, texts);
      else {
        // It came with a cursor that lies ahead of the feed.
        const events = page.events.filter(isAfter(at));
        viewer.sendChanges({ events, jobs: page.jobs }, laterCursor(at, cursor));
      }
    }
  }

  async #readOverview(): Promise<void> {
    const { clock, log, overview } = this.#options;
    this.#overviewAt = NEVER;
    if (overview === undefined) return;
    this.#overviewReadAt = clock.now();
    try {
      const body = await overview();
      const texts: SharedTexts = new Map();
      for (const viewer of this.#viewers) if (viewer.live) viewer.sendOverview(body, texts);
    } catch (error) {
      // The next change brings the next one.
      log.warn('feed_overview_failed', { code: codeOf(error) });
    }
  }

  #startAnew(): void {
    for (const viewer of this.#viewers) viewer.handOver(MIN_RETURN_MS);
    this.#place = undefined;
  }

  #startBeats(): void {
    if (this.#beats) this.#beatPause?.abort();
    else void this.#keepBeating();
  }

  /** Heartbeats, and each stream's end in its time. */
  async #keepBeating(): Promise<void> {
    const { clock, timer, random } = this.#options;
    this.#beats = true;
    let beatAt = clock.now() + STREAM_HEARTBEAT_MS;
    while (this.#viewers.size > 0) {
      const nextAt = Math.min(beatAt, this.#viewers.nextEnd());
      this.#beatPause = new AbortController();
      await pause(timer, nextAt - clock.now(), this.#beatPause.signal);
      this.#beatPause = undefined;
      const now = clock.now();
      this.#viewers.endDue(now, random);
      if (now < beatAt) continue;
      for (const viewer of this.#viewers) viewer.beat();
      beatAt = now + STREAM_HEARTBEAT_MS;
    }
    this.#beats = false;
  }
}

/** Ever longer: what runs for an hour is not asked about all the time. */
function unsettledPauseMs(looks: number): number {
  return Math.min(MIN_UNSETTLED_LOOK_MS * 2 ** Math.min(looks - 1, 20), MAX_UNSETTLED_LOOK_MS);
}

function isForeign(error: unknown): boolean {
  return error instanceof LeaseholdError && error.code === 'invalid_request';
}

function codeOf(error: unknown): string {
  return error instanceof LeaseholdError ? error.code : 'internal_error';
}
