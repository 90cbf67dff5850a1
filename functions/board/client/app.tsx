import { ErrorBoundary, useEffect, useRef, useState } from 'hono/jsx/dom';

import { ActionDialog } from './action-dialog.tsx';
import type { Board } from './board-state.ts';
import { counted } from './format.ts';
import { total } from './health.ts';
import { BoardContext, useBoard, useCell } from './hooks.ts';
import { Empty, Link, PageTitle } from './parts.tsx';
import { pathTo, type Page, type Place } from './router.ts';
import { useShortcuts, type ShortcutSwitch } from './shortcuts.tsx';
import { ActivityView } from './view-activity.tsx';
import { DeadView } from './view-dead.tsx';
import { EscalationsView } from './view-escalations.tsx';
import { HistoryView } from './view-history.tsx';
import { JobView } from './view-job.tsx';
import { JobsView } from './view-jobs.tsx';
import { OutboxView } from './view-outbox.tsx';
import { OverviewView } from './view-overview.tsx';
import { QueueView } from './view-queue.tsx';
import { SchedulesView } from './view-schedules.tsx';
import type { Count, QueueHealth } from './wire.ts';

export const PAGE_NAMES: Readonly<Record<Page, string>> = {
  overview: 'Overview',
  jobs: 'Jobs',
  escalations: 'For people',
  dead: 'Dead letters',
  activity: 'Activity',
  history: 'Past',
  schedules: 'Schedules',
  outbox: 'Outbox',
};

export function App({ board }: { readonly board: Board }) {
  return (
    <BoardContext.Provider value={board}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Frame />
      <ActionDialog />
      <Notices />
    </BoardContext.Provider>
  );
}

function Frame() {
  const { place } = useBoard();
  const here = useCell(place);
  const main = useRef<HTMLElement>(null);
  const where =
    here.page === 'job' || here.page === 'queue' ? `${here.page} ${here.id}` : here.page;
  const seen = useRef(where);
  const shortcuts = useShortcuts();
  useEffect(() => {
    document.title = `${titleOf(here)} · Leasehold`;
    document
      .querySelector('.side [aria-current]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' });
    if (seen.current === where) return;
    seen.current = where;
    scrollTo(0, 0);
    main.current?.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }, [where]);
  return (
    <div class="frame">
      <SideBar here={here} shortcuts={shortcuts} />
      <main id="main" ref={main}>
        <ErrorBoundary
          key={where}
          fallbackRender={() => (
            <Empty title="This view met a fault of its own">
              <button type="button" class="button" onClick={() => location.reload()}>
                Load the page again
              </button>
            </Empty>
          )}
        >
          <View key={where} place={here} />
        </ErrorBoundary>
      </main>
    </div>
  );
}

function titleOf(place: Place): string {
  if (place.page === 'job') return 'Job';
  if (place.page === 'queue') return place.id;
  return place.page === 'unknown' ? 'Not found' : PAGE_NAMES[place.page];
}

function View({ place }: { readonly place: Place }) {
  switch (place.page) {
    case 'overview':
      return <OverviewView />;
    case 'jobs':
      return <JobsView query={place.query} />;
    case 'job':
      return <JobView id={place.id} />;
    case 'queue':
      return <QueueView name={place.id} />;
    case 'escalations':
      return <EscalationsView query={place.query} />;
    case 'dead':
      return <DeadView query={place.query} />;
    case 'activity':
      return <ActivityView query={place.query} />;
    case 'history':
      return <HistoryView query={place.query} />;
    case 'schedules':
      return <SchedulesView />;
    case 'outbox':
      return <OutboxView />;
    case 'unknown':
      return (
        <>
          <PageTitle>Not found</PageTitle>
          <Empty title="The board has no such page">
            <Link to={pathTo('overview')}>Overview</Link>
          </Empty>
        </>
      );
  }
}

const COUNTED: Readonly<Partial<Record<Page, (queue: QueueHealth) => Count>>> = {
  escalations: (queue) => queue.escalated,
  dead: (queue) => queue.dead,
};

function SideBar({
  here,
  shortcuts,
}: {
  readonly here: Place;
  readonly shortcuts: ShortcutSwitch;
}) {
  const { session, overview } = useBoard();
  const seen = useCell(overview);
  // The outbox is one for all queues: who may see some of them alone is not shown it.
  const pages = (Object.keys(PAGE_NAMES) as Page[]).filter(
    (page) => page !== 'outbox' || session.queues === null,
  );
  return (
    <header class="side">
      <Link to={pathTo('overview')} class="brand">
        Leasehold
      </Link>
      <nav aria-label="Board">
        <ul>
          {pages.map((page) => {
            const pick = COUNTED[page];
            const count =
              pick === undefined || seen === undefined ? undefined : total(seen.queues, pick);
            return (
              <li key={page}>
                <Link to={pathTo(page)} class="nav-link" current={isAt(here, page)}>
                  <span>{PAGE_NAMES[page]}</span>
                  {count === undefined || count.count === 0 ? null : (
                    <span class={`nav-count tone-${page === 'dead' ? 'bad' : 'warn'}`}>
                      {counted(count)}
                    </span>
                  )}
                </Link>
              </li>
            );
          })}
        </ul>
      </nav>
      <div class="side-foot">
        <ConnectionState />
        <button type="button" class="link keys" onClick={shortcuts.show}>
          Keys
        </button>
        <SignedIn />
      </div>
    </header>
  );
}

function isAt(here: Place, page: Page): boolean {
  return (
    here.page === page ||
    (here.page === 'job' && page === 'jobs') ||
    (here.page === 'queue' && page === 'overview')
  );
}

const CONNECTION_WORDS = {
  live: 'Live',
  connecting: 'Connecting …',
  lost: 'Connection lost, trying again',
};

function ConnectionState() {
  const state = useCell(useBoard().connection);
  return (
    <p class={`connection connection-${state}`} role="status">
      <span class="dot" aria-hidden="true" />
      {CONNECTION_WORDS[state]}
    </p>
  );
}

function SignedIn() {
  const { session, api, notify } = useBoard();
  const [busy, setBusy] = useState(false);
  return (
    <div class="signed-in">
      <span class="clip" title={`Scopes: ${session.scopes.join(', ')}`}>
        <span class="unseen">Signed in as </span>
        {session.actor}
      </span>
      <button
        type="button"
        class="link"
        aria-disabled={busy ? 'true' : 'false'}
        onClick={() => {
          setBusy(true);
          api.send('POST', '/board/sign-out', {}).then(
            () => location.assign('/board/sign-in'),
            () => {
              setBusy(false);
              notify('Signing out did not work. Try again.', true);
            },
          );
        }}
      >
        Sign out
      </button>
    </div>
  );
}

function Notices() {
  const all = useCell(useBoard().notices);
  return (
    <div class="notices" role="status" aria-live="polite">
      {all.map(({ id, text, bad }) => (
        <p key={id} class={bad ? 'notice bad' : 'notice'}>
          {text}
        </p>
      ))}
    </div>
  );
}
