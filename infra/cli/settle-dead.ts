import { defined } from '../../shared/defined.ts';
import type { DryRunResponse, SettledResponse } from '../../shared/schemas/settled-response.ts';
import { refused, usageError } from './cli.ts';
import type { Cli } from './cli.ts';
import { EXIT } from './exit-code.ts';
import { printable } from './printable.ts';
import { table } from './table.ts';

export interface SettleOptions {
  readonly reason?: string;
  readonly perSecond?: number;
  readonly queue?: string;
  readonly type?: string;
  readonly deadReason?: string;
  readonly from?: string;
  readonly until?: string;
  readonly expect?: number;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

type Verb = 'redrive' | 'discard';

const WORDS = {
  redrive: { done: 'Sent back', would: 'would be sent back', ask: 'Send back' },
  discard: { done: 'Discarded', would: 'would be discarded', ask: 'Discard for good' },
} as const;

/**
 * Settles the dead jobs that are named, or those that fit a filter.
 *
 * @throws {CliError} when it is not clear which jobs are meant, or how many
 */
export async function settleDead(
  cli: Cli,
  verb: Verb,
  ids: readonly string[],
  options: SettleOptions,
): Promise<void> {
  const filter = defined({
    queue: options.queue,
    type: options.type,
    reason: options.deadReason,
    from: options.from,
    until: options.until,
  });
  const filtered = Object.keys(filter).length > 0;
  if (filtered === ids.length > 0)
    throw usageError('Name jobs, or give a filter such as --queue; not both.');
  const { deadLetters } = cli.client();
  const pace = verb === 'redrive' ? defined({ per_second: options.perSecond }) : {};
  if (!filtered) {
    for (const option of ['expect', 'dryRun', 'yes'] as const) {
      if (options[option] !== undefined) {
        throw usageError('--expect, --dry-run and --yes go with a filter.');
      }
    }
    const order = { job_ids: [...ids], reason: reasonOf(options) };
    const settled =
      verb === 'redrive'
        ? await deadLetters.redrive({ ...order, ...pace })
        : await deadLetters.discard(order);
    report(cli, verb, settled);
    return;
  }
  const matching = verb === 'redrive' ? deadLetters.redriveMatching : deadLetters.discardMatching;
  if (options.dryRun === true) {
    reportDryRun(cli, verb, await matching({ filter, dry_run: true }));
    return;
  }
  const reason = reasonOf(options);
  const expected_count = options.expect ?? (await agreedCount(cli, verb, options, filter));
  report(cli, verb, await matching({ filter, expected_count, reason, ...pace }));
}

/** The count that a person saw and agreed to, or that `--yes` takes as it is. */
async function agreedCount(
  cli: Cli,
  verb: Verb,
  { yes }: SettleOptions,
  filter: Readonly<Record<string, string>>,
): Promise<number> {
  const { ask } = cli.terminal;
  if (yes !== true && ask === undefined) {
    throw usageError('Nobody is there to ask: give --expect with the number of jobs, or --yes.');
  }
  const { redriveMatching, discardMatching } = cli.client().deadLetters;
  const matching = verb === 'redrive' ? redriveMatching : discardMatching;
  const seen = await matching({ filter, dry_run: true });
  if (!('dry_run' in seen)) throw new Error('The service settled jobs in a dry run.');
  if (seen.more) {
    throw usageError(`More than ${seen.count} jobs fit. Narrow the filter: so many at a time.`);
  }
  if (yes === true || seen.count === 0) return seen.count;
  const jobs = seen.count === 1 ? '1 job' : `${seen.count} jobs`;
  const named = Object.entries(filter).map(([name, value]) => `${name} ${printable(value)}`);
  const answer = await ask?.(`${WORDS[verb].ask} ${jobs} (${named.join(', ')})? [y/N] `);
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
    throw refused('not_confirmed', 'Nothing was changed.');
  }
  return seen.count;
}

function reasonOf({ reason }: SettleOptions): string {
  if (reason === undefined) throw usageError('Give --reason: the log keeps it.');
  return reason;
}

function reportDryRun(cli: Cli, verb: Verb, seen: DryRunResponse | SettledResponse): void {
  if (!('dry_run' in seen)) throw new Error('The service settled jobs in a dry run.');
  cli.answer(seen, () => {
    const count = seen.more ? `More than ${seen.count}` : String(seen.count);
    const sample = seen.sample.map((id) => `  ${printable(id)}\n`).join('');
    const rest = seen.count > seen.sample.length && seen.sample.length > 0 ? '  …\n' : '';
    return `${count} ${WORDS[verb].would}.\n${sample}${rest}`;
  });
}

/** Settling some and not others is a failure: the script that named them has to look. */
function report(cli: Cli, verb: Verb, settled: DryRunResponse | SettledResponse): void {
  if ('dry_run' in settled) throw new Error('The service took the order for a dry run.');
  const wanted = verb === 'redrive' ? 'redriven' : 'discarded';
  const others = settled.jobs.filter(({ outcome }) => outcome !== wanted);
  cli.answer(settled, () => {
    const jobs = settled.settled === 1 ? '1 job' : `${settled.settled} jobs`;
    const head = `${WORDS[verb].done} ${jobs}.\n`;
    if (others.length === 0) return head;
    const columns = [
      { title: 'NOT SETTLED', value: (job: (typeof others)[number]) => job.id },
      { title: 'WHY', value: (job: (typeof others)[number]) => job.outcome },
      { title: 'CLASHES WITH', value: (job: (typeof others)[number]) => job.clash },
    ];
    return `${head}${table(columns, others, undefined)}`;
  });
  if (others.length > 0) cli.endWith(EXIT.failed);
}
