import type { Board } from './board-state.ts';
import { useBoard, useLoaded } from './hooks.ts';
import { Ago, Empty, Failure, Link, Loading, Moment, PageTitle } from './parts.tsx';
import { jobPath, queuePath } from './router.ts';
import type { ScheduleSummary } from './wire.ts';

interface Page {
  readonly schedules: readonly ScheduleSummary[];
  readonly next_cursor: string | null;
}

export function SchedulesView() {
  const { value, error, reload } = useLoaded<Page>('/v1/schedules?limit=200');
  const board = useBoard();
  return (
    <>
      <PageTitle>Schedules</PageTitle>
      {error === undefined ? null : <Failure error={error} retry={reload} />}
      {value === undefined && error === undefined ? <Loading /> : null}
      {value !== undefined && value.schedules.length === 0 ? (
        <Empty title="No schedules">
          One makes a job at each slot of its cron line: PUT /v1/schedules/…
        </Empty>
      ) : null}
      {value !== undefined && value.schedules.length > 0 ? (
        <table class="table stack">
          <caption class="unseen">Schedules by name</caption>
          <thead>
            <tr>
              <th scope="col">Schedule</th>
              <th scope="col">When</th>
              <th scope="col">Makes</th>
              <th scope="col">Next</th>
              <th scope="col">Last job</th>
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {value.schedules.map((schedule) => (
              <tr key={schedule.name}>
                <th scope="row">{schedule.name}</th>
                <td data-label="When">
                  <span class="mono">{schedule.cron}</span>{' '}
                  <span class="quiet">{schedule.zone}</span>
                </td>
                <td data-label="Makes">
                  {schedule.type} <span class="quiet">in</span>{' '}
                  <Link to={queuePath(schedule.queue)}>{schedule.queue}</Link>
                </td>
                <td data-label="Next">
                  <Next schedule={schedule} />
                </td>
                <td data-label="Last job">
                  {schedule.last_job_id === null ? (
                    <span class="quiet">none</span>
                  ) : (
                    <Link to={jobPath(schedule.last_job_id)}>open</Link>
                  )}
                </td>
                <td class="action-cell">
                  {board.may('operate') ? (
                    <button
                      type="button"
                      class="button small"
                      aria-label={`${schedule.paused ? 'Resume' : 'Pause'} ${schedule.name}`}
                      onClick={() => askSwitch(board, schedule, reload)}
                    >
                      {schedule.paused ? 'Resume' : 'Pause'}
                    </button>
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
    </>
  );
}

function Next({ schedule }: { readonly schedule: ScheduleSummary }) {
  const next = schedule.next_slot_at;
  if (schedule.paused) return <span class="badge is-paused">Paused</span>;
  if (next === null) return <span class="quiet">none</span>;
  return (
    <>
      <Ago at={next} />{' '}
      <span class="quiet">
        <Moment at={next} />
      </span>
    </>
  );
}

function askSwitch(board: Board, { name, type, paused }: ScheduleSummary, done: () => void): void {
  board.asked.set({
    title: `${paused ? 'Resume' : 'Pause'} ${name}?`,
    effect: paused
      ? `From the next slot on, “${name}” makes jobs of type ${type} again. Slots missed while it was paused are not made up for.`
      : `“${name}” makes no more jobs until it is resumed. Jobs that it has made go on.`,
    confirm: paused ? 'Resume the schedule' : 'Pause the schedule',
    async run() {
      const path = `/v1/schedules/${encodeURIComponent(name)}/${paused ? 'resume' : 'pause'}`;
      await board.api.send('POST', path, {});
      done();
      return paused ? `${name} goes on.` : `${name} is paused.`;
    },
  });
}
