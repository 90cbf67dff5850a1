/** How views watch the board and load what they show. */
import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'hono/jsx/dom';

import type { Board, FreshChange } from './board-state.ts';
import type { Cell } from './cell.ts';
import { EMPTY_LIST, withChanges, withPage, type JobList, type ListKind } from './job-list.ts';
import type { JobPage } from './wire.ts';

export const BoardContext = createContext<Board | undefined>(undefined);

export function useBoard(): Board {
  const board = useContext(BoardContext);
  if (board === undefined) throw new Error('There is no board around this view.');
  return board;
}

export function useCell<T>(watched: Cell<T>): T {
  return useSyncExternalStore(watched.watch, watched.get);
}

/** Calls the listener, always the newest one, with each change while the view is shown. */
export function useChanges(listener: (change: FreshChange) => void): void {
  const { onChange } = useBoard();
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => onChange((change) => latest.current?.(change)), [onChange]);
}

export interface Loaded<T> {
  /** The last one that came for this path. */
  readonly value: T | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

/** Loads a path, and again when the stream began anew. What is shown stays while the next answer is on its way. */
export function useLoaded<T>(path: string | undefined): Loaded<T> {
  const { api, generation } = useBoard();
  const era = useCell(generation);
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{
    readonly path: string | undefined;
    readonly value?: T | undefined;
    readonly error?: unknown;
  }>({ path });
  useEffect(() => {
    if (path === undefined || era === 0) return undefined;
    const gone = new AbortController();
    api.get<T>(path, gone.signal).then(
      (value) => setState({ path, value }),
      (error: unknown) => {
        if (!gone.signal.aborted) {
          setState((was) => ({ path, value: was.path === path ? was.value : undefined, error }));
        }
      },
    );
    return () => gone.abort();
  }, [path, era, turn]);
  const isOurs = state.path === path;
  return {
    value: isOurs ? state.value : undefined,
    error: isOurs ? state.error : undefined,
    reload: useCallback(() => setTurn((last) => last + 1), []),
  };
}

export interface LiveList {
  readonly list: JobList;
  readonly loading: boolean;
  readonly error: unknown;
  readonly loadMore: () => void;
  readonly reload: () => void;
}

/** A list of jobs by pages, kept true by the stream. `path` names the list; its cursor is added. */
export function useJobList(path: string, kind: ListKind): LiveList {
  const { api, generation, memory } = useBoard();
  const era = useCell(generation);
  const [turn, setTurn] = useState(0);
  const [list, setList] = useState<JobList>(EMPTY_LIST);
  const [error, setError] = useState<unknown>(undefined);
  const [loading, setLoading] = useState(true);
  const latest = useRef({ kind, list, request: undefined as AbortController | undefined });
  const now = latest.current;
  if (now !== null) {
    now.kind = kind;
    now.list = list;
  }

  const load = useCallback(
    (cursor: string | null) => {
      const refs = latest.current;
      if (refs === null) return;
      refs.request?.abort();
      const request = new AbortController();
      refs.request = request;
      setLoading(true);
      const mark = memory.mark();
      const from = cursor === null ? path : `${path}&cursor=${encodeURIComponent(cursor)}`;
      api.get<JobPage>(from, request.signal).then(
        (page) => {
          if (request.signal.aborted) return;
          refs.request = undefined;
          setList((was) => {
            const read = { rows: page.jobs, next: page.next_cursor };
            const whole = withPage(refs.kind, cursor === null ? EMPTY_LIST : was, read);
            return withChanges(refs.kind, whole, memory.changedSince(mark));
          });
          setError(undefined);
          setLoading(false);
        },
        (failure: unknown) => {
          if (request.signal.aborted) return;
          refs.request = undefined;
          setError(failure);
          setLoading(false);
        },
      );
    },
    [path],
  );
  useEffect(() => {
    if (era === 0) return undefined;
    load(null);
    return () => latest.current?.request?.abort();
  }, [load, era, turn]);
  useChanges(({ jobs }) => setList((was) => withChanges(kind, was, jobs)));
  const loadMore = useCallback(() => {
    const refs = latest.current;
    if (refs !== null && refs.request === undefined && refs.list.next !== null) {
      load(refs.list.next);
    }
  }, [load]);
  const reload = useCallback(() => setTurn((last) => last + 1), []);
  return { list, loading, error, loadMore, reload };
}
