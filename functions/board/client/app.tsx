import { useEffect, useRef, useState } from 'hono/jsx/dom';
import uPlot from 'uplot';

import { readSession } from './session.ts';
import type { Session } from './session.ts';

/** Says who is signed in. */
export function App() {
  const [session, setSession] = useState<Session | undefined>(undefined);
  useEffect(() => {
    void readSession().then(setSession);
  }, []);
  return (
    <main>
      <h1>Leasehold</h1>
      <p id="actor">{session === undefined ? 'One moment …' : `Signed in as ${session.actor}`}</p>
      <Line values={[1, 3, 2, 5]} />
    </main>
  );
}

function Line({ values }: { readonly values: readonly number[] }) {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = holder.current;
    if (element === null) return undefined;
    const plot = new uPlot(
      {
        width: 160,
        height: 40,
        legend: { show: false },
        axes: [{ show: false }, { show: false }],
        series: [{}, { stroke: 'currentColor' }],
      },
      [values.map((_, at) => at), [...values]],
      element,
    );
    return () => plot.destroy();
  }, [values]);
  return <div ref={holder} aria-hidden="true" />;
}
