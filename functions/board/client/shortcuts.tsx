import { useEffect } from 'hono/jsx/dom';

import { useBoard } from './hooks.ts';
import { pathTo, type Page } from './router.ts';

export interface ShortcutSwitch {
  /** Shows what the keys do, with the switch that turns them off. */
  readonly show: () => void;
}

/** After g. */
const PLACES: Readonly<Record<string, Page>> = {
  o: 'overview',
  j: 'jobs',
  p: 'escalations',
  d: 'dead',
  a: 'activity',
  t: 'history',
  s: 'schedules',
};
const OFF = 'leasehold_keys_off';

/** Single keys that lead about the board, unless somebody types or has turned them off. */
export function useShortcuts(): ShortcutSwitch {
  const board = useBoard();
  const show = (): void => {
    const off = localStorage.getItem(OFF) !== null;
    board.asked.set({
      title: 'Keys',
      effect:
        'In lists: arrows or j and k move, Enter opens, Space chooses. Anywhere: / searches, ? shows this; g then o, j, p, d, a, t or s leads to Overview, Jobs, For people, Dead letters, Activity, Past or Schedules.',
      confirm: off ? 'Turn single keys on' : 'Turn single keys off',
      run: () => {
        if (off) localStorage.removeItem(OFF);
        else localStorage.setItem(OFF, '1');
        return Promise.resolve(
          off ? 'Single keys are on.' : 'Single keys are off; lists keep theirs.',
        );
      },
    });
  };
  useEffect(() => {
    let afterG = false;
    const onKey = (event: KeyboardEvent): void => {
      const typing = (event.target as HTMLElement).closest('input,textarea,select,dialog') !== null;
      if (typing || event.metaKey || event.ctrlKey || event.altKey) return;
      if (localStorage.getItem(OFF) !== null) return;
      const page = afterG && Object.hasOwn(PLACES, event.key) ? PLACES[event.key] : undefined;
      afterG = event.key === 'g';
      if (page !== undefined) {
        event.preventDefault();
        event.stopPropagation();
        board.go(pathTo(page));
      } else if (event.key === '?') show();
      else if (event.key === '/') {
        event.preventDefault();
        const search = document.getElementById('search');
        if (search === null) board.go(pathTo('jobs'));
        else search.focus();
      }
    };
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, []);
  return { show };
}
