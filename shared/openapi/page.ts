import { isJsonObject } from '../json-value.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';
import { html, prose } from './html.ts';
import type { Html } from './html.ts';
import { objectAt } from './look-up.ts';
import { operationSection } from './page-operation.ts';
import type { PageOperation } from './page-operation.ts';
import { fieldTable, typeOf } from './page-schema.ts';
import { PAGE_STYLE } from './page-style.ts';

/**
 * An OpenAPI document as one static page: no script, no request to anywhere, readable by keyboard and without style.
 *
 * @param document made by `openapiDocument`
 * @returns HTML whose only style element holds exactly `PAGE_STYLE`, for a policy that names its hash
 */
export function openapiPage(document: JsonObject): string {
  const info = objectAt(document, document['info']);
  const operations = operationsOf(document);
  const tags = [...Map.groupBy(operations, ({ tag }) => tag)];
  const schemas = Object.entries(
    objectAt(document, objectAt(document, document['components'])['schemas']),
  );
  const title = `${text(info['title'])} API`;
  const style = html`<style>`.text + PAGE_STYLE + html`</style>`.text;
  const page = html`<body>
    <a class="skip" href="#content">Skip to the content</a>
    <nav aria-label="Operations">
      <p class="home"><a href="#top">${title}</a></p>
      ${tags.map(
        ([tag, ofTag]) =>
          html`<h2>${tag}</h2>
            <ul>
              ${ofTag.map(
                ({ id, method, summary }) =>
                  html`<li>
                    <a href="#${id}"><span class="verb ${method}">${method}</span> ${summary}</a>
                  </li>`,
              )}
            </ul>`,
      )}
      <h2>Messages</h2>
      <ul>
        ${schemas.map(([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`)}
      </ul>
    </nav>
    <main id="content">
      <h1 id="top">${title} <small>contract ${text(info['version'])}</small></h1>
      ${prose(text(info['description']))}
      <p>For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
      ${signIn(document)}
      ${tags.map(
        ([tag, ofTag]) =>
          html`<section>
            <h2>${tag}</h2>
            ${ofTag.map((operation) => operationSection(document, operation))}
          </section>`,
      )}
      <section>
        <h2>Messages</h2>
        ${schemas.map(([name, schema]) => schemaSection(document, name, schema))}
      </section>
    </main>
  </body>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${html`<title>${title}</title>`.text}
${style}
</head>
${page.text.replaceAll(/\n\s*(?=<(?!code))/g, '\n')}
</html>
`;
}

function operationsOf(document: JsonObject): PageOperation[] {
  return Object.entries(objectAt(document, document['paths'])).flatMap(([path, ofPath]) =>
    Object.entries(objectAt(document, ofPath)).map(([method, value]) => {
      const operation = objectAt(document, value);
      const [tag] = (operation['tags'] ?? []) as readonly string[];
      return {
        id: text(operation['operationId']),
        tag: tag ?? '',
        method,
        path,
        summary: text(operation['summary']),
        operation,
      };
    }),
  );
}

function signIn(document: JsonObject): Html {
  const schemes = objectAt(document, objectAt(document, document['components'])['securitySchemes']);
  return html`<h2>Sign-in</h2>
    <dl>
      ${Object.entries(schemes).map(
        ([name, scheme]) =>
          html`<dt><code>${name}</code></dt>
            <dd>${prose(text(objectAt(document, scheme)['description']))}</dd>`,
      )}
    </dl>`;
}

function schemaSection(document: JsonObject, name: string, value: JsonValue): Html {
  const schema = objectAt(document, value);
  const union = schema['anyOf'];
  const alternatives = (Array.isArray(union) ? union : [schema]) as readonly JsonValue[];
  return html`<article id="schema-${name}">
    <h3><code>${name}</code></h3>
    ${alternatives.map((one, at) => {
      const or = at === 0 ? undefined : html`<p>or</p>`;
      const isFields = isJsonObject(one) && one['properties'] !== undefined;
      return html`${or}${isFields ? fieldTable(one, name) : html`<p>${typeOf(one)}</p>`}`;
    })}
  </article>`;
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
