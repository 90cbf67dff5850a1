import type { JsonObject, JsonValue } from '../json-value.ts';
import { html, inline, prose } from './html.ts';
import type { Html } from './html.ts';
import { objectAt } from './look-up.ts';
import { table, typeOf } from './page-schema.ts';

export interface PageOperation {
  readonly id: string;
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly operation: JsonObject;
}

/** One operation: who may call it, what to send, what comes back. */
export function operationSection(
  document: JsonObject,
  { id, method, path, summary, operation }: PageOperation,
): Html {
  const about = operation['description'];
  return html`<article id="${id}">
    <h3>${summary}</h3>
    <p class="route">
      <span class="verb ${method}">${method}</span> <code>${path}</code> ${scope(operation)}
    </p>
    ${typeof about === 'string' ? prose(about) : undefined}
    ${parameters(document, operation, summary)} ${body(document, operation)}
    ${answers(document, operation)}
  </article>`;
}

function scope(operation: JsonObject): Html {
  const allowed = (operation['security'] ?? []) as readonly Readonly<Record<string, string[]>>[];
  if (allowed.length === 0) return html`<span class="scope">open to all</span>`;
  const ways = allowed.flatMap((way) =>
    Object.entries(way).map(([name, scopes]) =>
      name === 'poke' ? 'a signed poke' : `scope ${scopes.join(' ')}`,
    ),
  );
  return html`<span class="scope">${ways.join(' or ')}</span>`;
}

function parameters(
  document: JsonObject,
  operation: JsonObject,
  summary: string,
): Html | undefined {
  const listed = (operation['parameters'] ?? []) as readonly JsonValue[];
  if (listed.length === 0) return undefined;
  const rows = listed.map((one) => {
    const parameter = objectAt(document, one);
    const [name, place, about] = [parameter['name'], parameter['in'], parameter['description']];
    return {
      name: String(name as string),
      field: parameter['schema'] ?? {},
      required: parameter['required'] === true,
      description: `In the ${String(place as string)}. ${typeof about === 'string' ? about : ''}`,
    };
  });
  return html`<h4>Parameters</h4>
    ${table(`Parameters: ${summary}`, rows)}`;
}

function body(document: JsonObject, operation: JsonObject): Html | undefined {
  const request = objectAt(document, operation['requestBody']);
  const media = objectAt(document, objectAt(document, request['content'])['application/json']);
  if (media['schema'] === undefined) return undefined;
  const optional = request['required'] === true ? '' : ', optional';
  return html`<h4>Body</h4>
    <p>${typeOf(media['schema'])}${optional}</p>
    ${example(media['example'])}`;
}

function answers(document: JsonObject, operation: JsonObject): Html {
  const all = Object.entries(objectAt(document, operation['responses']));
  const good = all.filter(([status]) => Number(status) < 400);
  const bad = all.filter(([status]) => Number(status) >= 400);
  return html`<h4>Answers</h4>
    <dl class="answers">
      ${good.map(([status, one]) => {
        const answer = objectAt(document, one);
        const media = objectAt(document, objectAt(document, answer['content'])['application/json']);
        const schema = media['schema'];
        return html`<dt>${status}</dt>
          <dd>
            ${description(answer)} ${schema === undefined ? undefined : typeOf(schema)}
            ${example(media['example'])}
          </dd>`;
      })}
    </dl>
    <details>
      <summary>Errors</summary>
      <dl class="answers">
        ${bad.map(([status, one]) => {
          const answer = objectAt(document, one);
          return html`<dt>${status}</dt>
            <dd>
              ${prose(typeof answer['description'] === 'string' ? answer['description'] : '')}
            </dd>`;
        })}
      </dl>
    </details>`;
}

function description(answer: JsonObject): Html | undefined {
  const about = answer['description'];
  return typeof about === 'string' ? inline(about) : undefined;
}

function example(value: JsonValue | undefined): Html | undefined {
  if (value === undefined) return undefined;
  return html`<pre
    tabindex="0"
    aria-label="Example"
  ><code>${JSON.stringify(value, null, 2)}</code></pre>`;
}
