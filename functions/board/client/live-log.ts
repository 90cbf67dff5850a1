import { useCallback, useEffect, useRef, useState } from 'hono/jsx/dom';

import type { Api } from './api.ts';
import { useBoard, useCell, useChanges } from './hooks.ts';
import {
  fitsLog,
  MAX_LISTED_EVENTS,
  withNews,
  withOlder,
  type LogFilter,
  type LogList,
} from './log-list.ts';
import { withQuery } from './router.ts';
import type { BoardEvent } from './wire.ts';

const PAGE_SIZE = '100';
/** Pages that one look reads before it says that it has found nothing yet. */
const MAX_PAGES = 5;
const NONE: LogList = { events: [], older: null };

interface LogPage {
  readonly events: readonly BoardEvent[];
  readonly next_cursor: string | null;
}

export interface LiveLog {
  readonly list: LogList;
  readonly loading: boolean;
  readonly error: unknown;
  readonly loadOlder: () => void;
  readonly reload: () => void;
}

/** The event log, the newest first: read down from now, page by page when asked, and told on by the stream. */
export function useLiveLog({ queue, actor, type }: LogFilter): LiveLog {
  const { api, generation } = useBoard();
  const era = useCell(generation);
  const [turn, setTurn] = useState(0);
  const [list, setList] = useState<LogList>(NONE);
  const [error, setError] = useState<unknown>(undefined);
  const [loading, setLoading] = useState(true);
  const refs = useRef({
    older: null as string | null,
    request: undefined as AbortController | undefined,
    /** Told since the newest page was asked for. */
    news: [] as readonly BoardEvent[],
  });
  if (refs.current !== null) refs.current.older = list.older;

  const load = useCallback(
    (from: string | null) => {
      const now = refs.current;
      if (now === null) return;
      now.request?.abort();
      const request = new AbortController();
      now.request = request;
      if (from === null) now.news = [];
      setLoading(true);
      readDown(api, { queue, actor, type }, from, request.signal).then(
        (page) => {
          if (request.signal.aborted) return;
          now.request = undefined;
          setList((was) => (from === null ? withNews(page, now.news) : withOlder(was, page)));
          setError(undefined);
          setLoading(false);
        },
        (failure: unknown) => {
          if (request.signal.aborted) return;
          now.request = undefined;
          setError(failure);
          setLoading(false);
        },
      );
    },
    [queue, actor, type],
  );
  useEffect(() => {
    setList(NONE);
  }, [load]);
  useEffect(() => {
    if (era === 0) return undefined;
    load(null);
    return () => refs.current?.request?.abort();
  }, [load, era, turn]);
  useChanges(({ events }) => {
    const news = events.filter((event) => fitsLog({ queue, actor, type }, event));
    if (news.length === 0 || refs.current === null) return;
    if (refs.current.request !== undefined) refs.current.news = [...refs.current.news, ...news];
    // What somebody has asked for stays, however much that is.
    setList((was) => withNews(was, news, Math.max(MAX_LISTED_EVENTS, was.events.length)));
  });
  return {
    list,
    loading,
    error,
    loadOlder: useCallback(() => {
      const now = refs.current;
      if (now !== null && now.request === undefined && now.older !== null) load(now.older);
    }, [load]),
    reload: useCallback(() => setTurn((last) => last + 1), []),
  };
}

/** A few pages, until one has something to show. */
async function readDown(
  api: Api,
  filter: LogFilter,
  from: string | null,
  signal: AbortSignal,
): Promise<LogList> {
  let older = from;
  for (let pages = 1; ; pages += 1) {
    const path = withQuery('/v1/events', {
      order: 'newest',
      ...filter,
      limit: PAGE_SIZE,
      cursor: older ?? undefined,
    });
    const page = await api.get<LogPage>(path, signal);
    const events = page.events.filter((event) => fitsLog(filter, event));
    older = page.next_cursor;
    if (events.length > 0 || older === null || pages === MAX_PAGES) return { events, older };
  }
}
