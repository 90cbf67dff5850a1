import type { Board } from './board-state.ts';
import { counted, shortId, span, wholeNumber } from './format.ts';
import { useBoard, useLoaded } from './hooks.ts';
import { Ago, Empty, errorText, Failure, Loading, PageTitle } from './parts.tsx';
import type { OutboxEvent, OutboxMetrics } from './wire.ts';

interface Page {
  readonly events: readonly OutboxEvent[];
  readonly next_cursor: string | null;
}

/** Read when it is opened and when somebody asks: the stream tells of jobs, not of the outbox. */
export function OutboxView() {
  const board = useBoard();
  const metrics = useLoaded<OutboxMetrics>('/v1/outbox/metrics');
  const parked = useLoaded<Page>('/v1/outbox/events?state=quarantined&limit=100');
  const held = useLoaded<Page>('/v1/outbox/events?state=held&limit=100');
  const reload = (): void => {
    metrics.reload();
    parked.reload();
    held.reload();
  };
  const error = metrics.error ?? parked.error ?? held.error;
  return (
    <>
      <PageTitle
        actions={
          <button type="button" class="button" onClick={reload}>
            Read again
          </button>
        }
      >
        Outbox
      </PageTitle>
      {error === undefined ? null : <Failure error={error} retry={reload} />}
      {metrics.value === undefined ? null : <Numbers metrics={metrics.value} />}
      <section class="panel" aria-labelledby="quarantine">
        <h2 id="quarantine">Quarantine</h2>
        {parked.value === undefined ? <Loading /> : null}
        {parked.value !== undefined && parked.value.events.length === 0 ? (
          <Empty title="No event is quarantined">
            An event that could not be published in all its tries waits here, and its aggregate
            behind it.
          </Empty>
        ) : null}
        <ul class="cards">
          {(parked.value?.events ?? []).map((event) => (
            <li key={event.id} class="card">
              <EventHead event={event} />
              <p class="error-text">{errorText(event.last_error)}</p>
              {board.may('operate') ? (
                <div class="card-foot">
                  <span class="quiet">after {event.attempts} tries</span>
                  <span class="actions">
                    <button
                      type="button"
                      class="button"
                      onClick={() => askSettle(board, 'skip', event, reload)}
                    >
                      Skip
                    </button>
                    <button
                      type="button"
                      class="button primary"
                      onClick={() => askSettle(board, 'replay', event, reload)}
                    >
                      Replay
                    </button>
                  </span>
                </div>
              ) : null}
            </li>
          ))}
        </ul>
      </section>
      {(held.value?.events ?? []).length === 0 ? null : (
        <section class="panel" aria-labelledby="held">
          <h2 id="held">Held</h2>
          <ul class="cards">
            {(held.value?.events ?? []).map((event) => (
              <li key={event.id} class="card">
                <EventHead event={event} />
                <p class="quiet">
                  {event.held_by === null
                    ? 'tried again '
                    : `behind event ${shortId(event.held_by)}`}
                  {event.retry_at === null ? null : <Ago at={event.retry_at} />}
                </p>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Numbers({ metrics }: { readonly metrics: OutboxMetrics }) {
  const oldest = metrics.oldest_unpublished_seconds;
  return (
    <dl class="totals">
      <div class="total total-main">
        <dt>Oldest unpublished</dt>
        <dd>
          <span class="figure">{oldest === null ? 'none waits' : span(oldest)}</span>
        </dd>
      </div>
      <div class="total">
        <dt>Pending</dt>
        <dd class="figure">{counted(metrics.pending)}</dd>
      </div>
      <div class="total">
        <dt>Held</dt>
        <dd class="figure">{counted(metrics.held)}</dd>
      </div>
      <div class="total">
        <dt>Quarantined</dt>
        <dd class={`figure${metrics.quarantined.count > 0 ? ' tone-bad' : ''}`}>
          {counted(metrics.quarantined)}
        </dd>
      </div>
      <div class="total">
        <dt>Published lately</dt>
        <dd class="figure">{wholeNumber(metrics.last_minutes.published)}</dd>
      </div>
    </dl>
  );
}

function EventHead({ event }: { readonly event: OutboxEvent }) {
  return (
    <div class="card-head">
      <span class="strong">
        {event.type} <span class="mono">{shortId(event.id)}</span>
      </span>
      <span class="quiet">
        {event.aggregate_type} {event.aggregate_id}, version {event.version}
      </span>
      <span class="card-age">
        <Ago at={event.created_at} />
      </span>
    </div>
  );
}

function askSettle(
  board: Board,
  verb: 'replay' | 'skip',
  event: OutboxEvent,
  done: () => void,
): void {
  const name = `${event.type} ${shortId(event.id)}`;
  const behind = `What waits behind it in ${event.aggregate_type} ${event.aggregate_id} then goes on.`;
  const replay = verb === 'replay';
  board.asked.set({
    title: `${replay ? 'Replay' : 'Skip'} ${name}?`,
    effect: `${replay ? 'It is tried again, with fresh tries.' : 'It is never published.'} ${behind}`,
    confirm: replay ? 'Replay the event' : 'Skip the event',
    danger: !replay,
    fields: [{ name: 'reason', label: 'Reason', required: true, lines: 2, max: 1000 }],
    async run({ reason }) {
      await board.api.send('POST', `/v1/outbox/${verb}`, { event_ids: [event.id], reason });
      done();
      return replay ? 'The event is tried again.' : 'The event is skipped.';
    },
  });
}
