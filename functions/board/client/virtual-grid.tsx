import type { Child } from 'hono/jsx/dom';
import { useEffect, useRef, useState } from 'hono/jsx/dom';

import { rowAfterKey, rowWindow } from './virtual.ts';
import type { JobSummary } from './wire.ts';

interface Column {
  readonly name: string;
  readonly class: string;
}

interface GridProps {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly JobSummary[];
  /** There are more rows than these. */
  readonly more: boolean;
  readonly loadMore: () => void;
  readonly open: (job: JobSummary) => void;
  /** The cells of a row, one a column. */
  readonly cells: (job: JobSummary) => readonly Child[];
  readonly rowClass?: (job: JobSummary) => string;
  /** What the space key does to the row in focus. */
  readonly toggle?: (job: JobSummary) => void;
}

const EXTRA_ROWS = 8;
/** The next page is asked for so many rows before the end of what is there. */
const ROWS_AHEAD = 80;

/**
 * A list of any length: only the rows in sight are in the page. Arrow keys (or j and k), Page, Home and End move; Enter
 * opens. The focus stays with its job while rows come and go.
 */
export function VirtualGrid(props: GridProps) {
  const { rows, columns } = props;
  const body = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ scrolled: 0, height: 800, rowHeight: 44 });
  const [active, setActive] = useState<string | undefined>(undefined);
  const wantsFocus = useRef(false);
  /** Where the last key led: keys may come faster than rows are drawn. */
  const aim = useRef<string | undefined>(undefined);

  useEffect(() => {
    const measure = (): void => {
      const element = body.current;
      if (element === null) return;
      const rowHeight =
        Number.parseFloat(getComputedStyle(element).getPropertyValue('--row')) || 44;
      const scrolled = -element.getBoundingClientRect().top;
      const height = innerHeight;
      setView((was) =>
        was.scrolled === scrolled && was.height === height && was.rowHeight === rowHeight
          ? was
          : { scrolled, height, rowHeight },
      );
    };
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, []);

  const { first, end } = rowWindow({ rows: rows.length, ...view, extra: EXTRA_ROWS });
  const found = rows.findIndex(({ id }) => id === active);
  const activeAt = found === -1 ? first : found;
  useEffect(() => {
    if (props.more && end >= rows.length - ROWS_AHEAD) props.loadMore();
  }, [props.more, end, rows.length]);
  useEffect(() => {
    if (wantsFocus.current !== true || active === undefined || aim.current !== active) return;
    const element = document.getElementById(rowId(active));
    if (element === null) return;
    wantsFocus.current = false;
    element.focus({ preventScroll: true });
  }, [active, first, end]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (target.closest('[role=row]') === null || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName))
      return;
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const aimedAt = rows.findIndex(({ id }) => id === aim.current);
    const from = aimedAt === -1 ? activeAt : aimedAt;
    const job = rows[from];
    if (job === undefined) return;
    const onRow = target.getAttribute('role') === 'row';
    if (onRow && event.key === 'Enter') return props.open(job);
    if (onRow && event.key === ' ' && props.toggle !== undefined) {
      event.preventDefault();
      return props.toggle(job);
    }
    const page = Math.max(1, Math.floor(view.height / view.rowHeight) - 3);
    const next = rowAfterKey(event.key, from, rows.length, page);
    const nextJob = next === undefined ? undefined : rows[next];
    if (next === undefined || nextJob === undefined) return;
    event.preventDefault();
    wantsFocus.current = true;
    aim.current = nextJob.id;
    setActive(nextJob.id);
    scrollTo(next, view.rowHeight, body.current);
  };

  return (
    <div
      class="grid"
      role="grid"
      aria-label={props.label}
      aria-rowcount={props.more ? -1 : rows.length + 1}
    >
      <div role="rowgroup">
        <div class="grid-row grid-head" role="row" aria-rowindex={1}>
          {columns.map((column) => (
            <span key={column.name} role="columnheader" class={column.class}>
              {column.name}
            </span>
          ))}
        </div>
      </div>
      <div
        ref={body}
        role="rowgroup"
        class="grid-body"
        style={{ height: `${rows.length * view.rowHeight}px` }}
      >
        {rows.slice(first, end).map((job, offset) => {
          const at = first + offset;
          const cells = props.cells(job);
          return (
            <div
              key={job.id}
              id={rowId(job.id)}
              class={`grid-row ${props.rowClass?.(job) ?? ''}`}
              role="row"
              aria-rowindex={at + 2}
              tabindex={at === activeAt ? 0 : -1}
              style={{ transform: `translateY(${at * view.rowHeight}px)` }}
              onFocus={() => {
                aim.current = job.id;
                setActive(job.id);
              }}
              onKeyDown={onKeyDown}
              onClick={(event: MouseEvent) => {
                const target = event.target as HTMLElement;
                if (target.closest('a,button,input,label') === null) props.open(job);
              }}
            >
              {columns.map((column, index) => (
                <span key={column.name} role="gridcell" class={column.class}>
                  {cells[index]}
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function rowId(jobId: string): string {
  return `row-${jobId}`;
}

/** Scrolls as little as shows the row below the bars that stick to the top. */
function scrollTo(at: number, rowHeight: number, body: HTMLElement | null): void {
  if (body === null) return;
  const top = body.getBoundingClientRect().top + at * rowHeight;
  const bar = 120;
  if (top < bar) scrollBy({ top: top - bar });
  else if (top + rowHeight > innerHeight - 16)
    scrollBy({ top: top + rowHeight - innerHeight + 16 });
}
