/** What all views of one page share: who looks, what is live, where they are. Made once, when the page opens. */
import { createApi, type Api } from './api.ts';
import { everySecond, newClaimId, nowMs, random, wait } from './browser-ports.ts';
import { cell, type Cell } from './cell.ts';
import { changeMemory, type ChangeMemory } from './change-memory.ts';
import type { AskedAction } from './action-dialog.tsx';
import { withSwitches } from './health.ts';
import { followStream, type Connection } from './live-stream.ts';
import { placeOf, type Place } from './router.ts';
import type { BoardEvent, Change, JobSummary, Overview, Session } from './wire.ts';

export interface FreshChange {
  /** Each once, although the stream may tell it twice. */
  readonly events: readonly BoardEvent[];
  readonly jobs: readonly JobSummary[];
}

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
}

export interface Board {
  readonly api: Api;
  readonly session: Session;
  readonly may: (scope: string) => boolean;
  readonly memory: ChangeMemory;
  readonly overview: Cell<Overview | undefined>;
  readonly connection: Cell<Connection>;
  /** Grows whenever what was loaded may have missed a change: load again. 0: wait a moment. */
  readonly generation: Cell<number>;
  /** Milliseconds of the server's clock, once a second. */
  readonly clock: Cell<number>;
  /** What happened since the page opened, the newest first, up to a thousand. */
  readonly latest: Cell<readonly BoardEvent[]>;
  readonly place: Cell<Place>;
  readonly notices: Cell<readonly Notice[]>;
  readonly asked: Cell<AskedAction | undefined>;
  readonly go: (path: string, how?: 'push' | 'replace') => void;
  readonly notify: (text: string, bad?: boolean) => void;
  readonly onChange: (listener: (change: FreshChange) => void) => () => void;
  readonly newClaimId: () => string;
}

/** A view that opens while the stream is slow to open loads without it, and once more when it has. */
const STREAM_HEAD_START_MS = 400;
const NOTICE_MS = 6000;
const LATEST_EVENTS = 1000;

export function createBoard(session: Session, signedOut: () => void): Board {
  const listeners = new Set<(change: FreshChange) => void>();
  const memory = changeMemory();
  const overview = cell<Overview | undefined>(undefined);
  const connection = cell<Connection>('connecting');
  const generation = cell(0);
  const clock = cell(nowMs());
  const latest = cell<readonly BoardEvent[]>([]);
  const place = cell(placeOf(location.pathname, location.search));
  const notices = cell<readonly Notice[]>([]);
  const asked = cell<AskedAction | undefined>(undefined);
  let aheadMs = 0;
  let lastNotice = 0;

  const takeOverview = (seen: Overview): void => {
    aheadMs = Date.parse(seen.at) - nowMs();
    clock.set(nowMs() + aheadMs);
    overview.set(seen);
  };
  const api = createApi({
    fetch: (path, init) => fetch(path, init),
    cookies: () => document.cookie,
    signedOut,
  });
  const renew = (): void => {
    generation.set(generation.get() + 1);
    void api.get<Overview>('/v1/overview').then(takeOverview, () => undefined);
  };
  const tellChange = (change: Change): void => {
    const events = memory.take(change);
    if (events.length > 0)
      latest.set([...events.toReversed(), ...latest.get()].slice(0, LATEST_EVENTS));
    const seen = overview.get();
    if (seen !== undefined) overview.set(withSwitches(seen, events));
    for (const listener of listeners) listener({ events, jobs: change.jobs });
  };

  const open = new AbortController();
  void followStream(
    {
      open: (lastEventId, signal) =>
        fetch('/v1/events/stream', {
          headers: {
            accept: 'text/event-stream',
            ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
          },
          cache: 'no-store',
          signal,
        }),
      wait,
      random,
    },
    {
      message({ event, data }) {
        if (event === 'reset') renew();
        else if (event === 'change') tellChange(JSON.parse(data) as Change);
        else if (event === 'overview') takeOverview(JSON.parse(data) as Overview);
      },
      connection: connection.set,
      fresh: renew,
      signedOut,
    },
    open.signal,
  );
  void wait(STREAM_HEAD_START_MS).then(() => {
    if (generation.get() === 0) renew();
  });
  everySecond(() => clock.set(nowMs() + aheadMs));
  addEventListener('popstate', () => place.set(placeOf(location.pathname, location.search)));

  return {
    api,
    session,
    may: (scope) => session.scopes.includes(scope),
    memory,
    overview,
    connection,
    generation,
    clock,
    latest,
    place,
    notices,
    asked,
    go(path, how = 'push') {
      if (how === 'push') history.pushState(null, '', path);
      else history.replaceState(null, '', path);
      place.set(placeOf(location.pathname, location.search));
    },
    notify(text, bad = false) {
      lastNotice += 1;
      const notice = { id: lastNotice, text, bad };
      notices.set([...notices.get(), notice]);
      void wait(NOTICE_MS).then(() =>
        notices.set(notices.get().filter(({ id }) => id !== notice.id)),
      );
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    newClaimId,
  };
}
