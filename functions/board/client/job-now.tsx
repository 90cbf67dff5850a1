import { secondsSince, sentence, span } from './format.ts';
import { useBoard, useCell } from './hooks.ts';
import { Ago, endedWhy } from './parts.tsx';
import type { Job } from './wire.ts';

/** The one thing about the job that matters most at this moment. */
export function Now({ job }: { readonly job: Job }) {
  if (job.lease !== null) return <Running job={job} lease={job.lease} />;
  const ended = job.escalated ?? job.dead;
  if (ended !== null) {
    const asked = ended.reason === 'asked_for_human';
    return (
      <section class={`now now-${job.state}`} aria-label="Now">
        <p class="now-head">
          {asked ? 'A person is asked' : sentence(ended.reason)} · <Ago at={ended.since} />
        </p>
        <p class="error-text">{endedWhy(ended)}</p>
        {ended.owner === null ? null : <p class="quiet">Looked after by {ended.owner}</p>}
        {ended.note === null || ended.note === '' ? null : <p class="note">{ended.note}</p>}
      </section>
    );
  }
  if (job.state === 'pending') {
    return (
      <section class="now" aria-label="Now">
        <p class="now-head">
          {job.waiting_for === 'ordering_key'
            ? 'Waits for the jobs before it of the same ordering key'
            : job.waiting_for === 'pause'
              ? 'Its queue is paused'
              : job.waiting_for === 'time'
                ? 'Waits for its time'
                : 'Ready to be claimed'}{' '}
          · due <Ago at={job.due_at} />
        </p>
        <NoteToHolder job={job} />
      </section>
    );
  }
  return (
    <section class={`now now-${job.state}`} aria-label="Now">
      <p class="now-head">
        {job.state === 'succeeded' ? 'Succeeded' : 'Cancelled'}
        {job.finished_at === null ? null : (
          <>
            {' '}
            <Ago at={job.finished_at} />
          </>
        )}
        {job.finished_by === null ? '' : ` by ${job.finished_by}`}
      </p>
      {job.reason === null ? null : <p>{job.reason}</p>}
    </section>
  );
}

/** What a person wrote when they sent the job back. */
function NoteToHolder({ job }: { readonly job: Job }) {
  if (job.note === null || job.note === '') return null;
  return (
    <p class="note">
      <span class="strong">Note for the holder:</span> {job.note}
    </p>
  );
}

function Running({ job, lease }: { readonly job: Job; readonly lease: NonNullable<Job['lease']> }) {
  const now = useCell(useBoard().clock);
  const left = -secondsSince(lease.expires_at, now);
  return (
    <section class="now now-running" aria-label="Now">
      <p class="now-head">
        <span class="pulse" aria-hidden="true" /> Attempt {job.attempt} runs at {lease.owner}
      </p>
      <p class="progress" data-test="progress">
        {lease.progress ?? 'No progress reported yet'}
      </p>
      <p class="quiet">
        {left > 0 ? `Lease ends in ${span(left)} unless it is renewed` : 'Lease has run out'}
        {job.cancel_requested === null
          ? ''
          : ` · asked to stop by ${job.cancel_requested.by}${
              job.cancel_requested.reason === null ? '' : `: ${job.cancel_requested.reason}`
            }`}
      </p>
      <NoteToHolder job={job} />
    </section>
  );
}
