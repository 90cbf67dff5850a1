import type { Lab } from '../experiment.ts';
import type { Fleet } from './fleet.ts';
import { PHASES, type Ledger, type Phase } from './ledger.ts';
import type { Stage } from './stage.ts';
import type { LockWait } from './watch-locks.ts';

export interface Findings {
  readonly stage: Stage;
  readonly ledger: Ledger;
  readonly locks: ReadonlyMap<string, LockWait>;
  readonly fleets: { readonly old: Fleet; readonly young: Fleet };
  readonly statements: { readonly before: number; readonly after: number };
}

/** Prints what was seen. */
export function report(lab: Lab, { stage, ledger, locks, fleets, statements }: Findings): void {
  const { old, young } = fleets;
  const facts: readonly (readonly [count: number, what: string])[] = [
    [ledger.accepted.size, 'jobs accepted'],
    [ledger.appended, 'events appended'],
    [stage.receiver.effects.size, 'effects, by idempotency key'],
    [stage.receiver.held, 'runs that began on the old schema or in its migration and ended after'],
    [statements.before, 'statements of old Workers on the old schema'],
    [statements.after, 'statements of old Workers beside new ones'],
    [young.statements, 'statements of new Workers'],
    [old.failedTicks + young.failedTicks, 'ticks of the cron that failed'],
  ];
  for (const [count, what] of facts) lab.print(`  ${String(count).padStart(8)}  ${what}`);
  lab.print('  phase                calls   longest lock wait   waiting at most   longest call');
  for (const phase of PHASES) {
    const { longestMs = 0, mostWaiting = 0 } = locks.get(phase) ?? {};
    const cells = [
      phase.padEnd(18),
      String(ledger.calls.get(phase) ?? 0).padStart(7),
      `${Math.round(longestMs)} ms`.padStart(19),
      String(mostWaiting).padStart(17),
      longestCall(ledger, phase),
    ];
    lab.print(`  ${cells.join(' ')}`);
  }
  for (const [what, times] of ledger.retried) lab.print(`  retried ${times} × ${what}`);
  for (const what of stage.errors.all) lab.print(`  the server reported ${what}`);
  for (const [name, fleet] of Object.entries({ old, new: young })) {
    for (const [what, times] of fleet.logged) {
      lab.print(`  ${name} Workers logged ${times} × ${what}`);
    }
  }
}

function longestCall(ledger: Ledger, phase: Phase): string {
  const [longest] = [...ledger.longest]
    .filter(([key]) => key.startsWith(`${phase}: `))
    .sort(([, left], [, right]) => right - left);
  if (longest === undefined) return '';
  return `  ${Math.round(longest[1])} ms, ${longest[0].slice(phase.length + 2)}`;
}
