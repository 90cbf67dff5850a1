/** Small things that every view is made of. */
import type { Child } from 'hono/jsx/dom';
import { memo, useRef } from 'hono/jsx/dom';

import { clockTime, pretty, relative, secondsSince, sentence, span } from './format.ts';
import { useBoard, useCell } from './hooks.ts';
import { describe } from './problem.ts';
import type { JobSummary } from './wire.ts';

/** A link within the board: the page stays, the view changes. Other clicks (a new tab) are left to the browser. */
export function Link(props: {
  readonly to: string;
  readonly class?: string;
  readonly children?: Child;
  readonly current?: boolean;
  readonly label?: string;
  readonly tabindex?: number;
}) {
  const { go } = useBoard();
  return (
    <a
      href={props.to}
      class={props.class}
      aria-current={props.current === true ? 'page' : undefined}
      aria-label={props.label}
      tabindex={props.tabindex}
      onClick={(event: MouseEvent) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(props.to);
      }}
    >
      {props.children}
    </a>
  );
}

/** How long ago, or how far ahead; it moves with the clock. */
export const Ago = memo(({ at, plain }: { readonly at: string; readonly plain?: boolean }) => {
  const now = useCell(useBoard().clock);
  return (
    <time datetime={at} title={clockTime(at, now)}>
      {plain === true ? span(secondsSince(at, now)) : relative(at, now)}
    </time>
  );
});

/** The time of the day, exact; the age in its title. */
export const Moment = memo(({ at }: { readonly at: string }) => {
  const { clock } = useBoard();
  const now = clock.get();
  return (
    <time datetime={at} title={`${at}, ${relative(at, now)}`}>
      {clockTime(at, now)}
    </time>
  );
});

const STATE_WORDS: Readonly<Record<string, string>> = {
  pending: 'Pending',
  running: 'Running',
  succeeded: 'Succeeded',
  dead: 'Dead',
  escalated: 'Escalated',
  cancelled: 'Cancelled',
};

export function stateWord(state: string): string {
  return STATE_WORDS[state] ?? sentence(state);
}

export function StateBadge({ state }: { readonly state: string }) {
  return <span class={`badge is-${state}`}>{stateWord(state)}</span>;
}

/** What a row says of a job beside its state: who runs it and how far, when it is due, why it waits. */
export function JobNow({ job }: { readonly job: JobSummary }) {
  if (job.lease !== null) {
    return (
      <span class="clip">
        <span class="strong">{job.lease.progress ?? 'running'}</span>
        <span class="quiet"> · {job.lease.owner}</span>
      </span>
    );
  }
  if (job.state === 'pending') return <PendingWhy job={job} />;
  const text = endText(job);
  return <span class="clip quiet">{text}</span>;
}

function PendingWhy({ job }: { readonly job: JobSummary }) {
  const now = useCell(useBoard().clock);
  if (job.waiting_for === 'ordering_key') return <span class="clip">waits for its key</span>;
  if (job.waiting_for === 'pause') return <span class="clip">queue is paused</span>;
  const isDue = Date.parse(job.due_at) <= now;
  return (
    <span class="clip">
      {isDue
        ? `due for ${span(secondsSince(job.due_at, now))}`
        : `due ${relative(job.due_at, now)}`}
    </span>
  );
}

export function errorText(error: unknown): string {
  if (typeof error === 'string') return error;
  if (typeof error !== 'object' || error === null) return '';
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return [code, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
}

function endText(job: JobSummary): string {
  const ended = job.dead ?? job.escalated;
  if (ended !== null) return endedWhy(ended);
  if (job.state === 'cancelled') return job.reason ?? '';
  return job.finished_by === null ? '' : `by ${job.finished_by}`;
}

/** What a holder asked, or what went wrong. */
export function endedWhy({
  reason,
  error,
}: {
  readonly reason: string;
  readonly error: unknown;
}): string {
  if (reason !== 'asked_for_human') return errorText(error) || sentence(reason);
  const question = typeof error === 'object' && error !== null ? { ...error } : {};
  return 'message' in question && typeof question.message === 'string'
    ? question.message
    : errorText(error);
}

/** A heading that takes the focus when its page opens. */
export function PageTitle({
  children,
  actions,
}: {
  readonly children?: Child;
  readonly actions?: Child;
}) {
  return (
    <header class="page-title">
      <h1 tabindex={-1}>{children}</h1>
      <div class="actions">{actions}</div>
    </header>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: Child }) {
  return (
    <div class="empty">
      <p class="strong">{title}</p>
      <p>{children}</p>
    </div>
  );
}

export function Failure({
  error,
  retry,
}: {
  readonly error: unknown;
  readonly retry?: () => void;
}) {
  const { what, remedy } = describe(error);
  return (
    <div class="failure" role="alert">
      <p class="strong">{what}</p>
      <p>{remedy}</p>
      {retry === undefined ? null : (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Instead of rows, or above them: what went wrong, that they come, or, as `children`, that there are none. */
export function ListNotice({
  isEmpty,
  loading,
  error,
  retry,
  children,
}: {
  readonly isEmpty: boolean;
  readonly loading: boolean;
  readonly error: unknown;
  readonly retry: () => void;
  readonly children: Child;
}) {
  if (error !== undefined) return <Failure error={error} retry={retry} />;
  if (!isEmpty) return null;
  return loading ? <Loading /> : <>{children}</>;
}

export function Loading() {
  return (
    <p class="loading" aria-live="polite">
      Loading …
    </p>
  );
}

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const { notify } = useBoard();
  const button = useRef<HTMLButtonElement>(null);
  return (
    <button
      ref={button}
      type="button"
      class="link"
      aria-label={label}
      onClick={() => {
        navigator.clipboard.writeText(text).then(
          () => notify('Copied.'),
          () => notify('The browser does not allow copying here.', true),
        );
      }}
    >
      Copy
    </button>
  );
}

/** A value as JSON, in a box of bounded height. */
export function Code({ value }: { readonly value: unknown }) {
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- keys scroll a box only when it can have the focus
  return <pre tabindex={0}>{pretty(value)}</pre>;
}
