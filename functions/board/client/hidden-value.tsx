import { useState } from 'hono/jsx/dom';

import { Code } from './parts.tsx';

/** What may be private is drawn when somebody asks for it, and not before. */
export function Hidden({ title, value }: { readonly title: string; readonly value: unknown }) {
  const [shown, setShown] = useState(false);
  const id = `hidden-${title.toLowerCase()}`;
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        <button
          type="button"
          class="button small"
          aria-expanded={shown ? 'true' : 'false'}
          onClick={() => setShown(!shown)}
        >
          {shown ? 'Hide' : 'Show'} {title.toLowerCase()}
        </button>
      </div>
      {shown ? <Code value={value} /> : <p class="quiet">Hidden, as it may hold personal data.</p>}
    </section>
  );
}
