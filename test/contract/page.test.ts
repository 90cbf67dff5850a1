import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createApp } from '../../functions/app.ts';
import { html, inline } from '../../shared/openapi/html.ts';
import { OPERATIONS } from '../../shared/openapi/operations.ts';
import { openapiPage } from '../../shared/openapi/page.ts';
import { createAppHarness } from '../routes/support/app-harness.ts';
import type { AppHarness } from '../routes/support/app-harness.ts';
import { GENERATED } from './support/documents.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

describe('the reference page', () => {
  test('is open to all and costs no query', async () => {
    const before = app.http.endpoint.requests;
    const response = await page();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8');
    expect(app.http.endpoint.requests).toBe(before);
  });

  test('has a section for every operation, and each link within it leads somewhere', async () => {
    const text = await (await page()).text();
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    expect(OPERATIONS.filter(({ id }) => !ids.has(id))).toEqual([]);
    const targets = [...text.matchAll(/href="#([^"]+)"/g)].map(([, target]) => target);
    expect(targets.filter((target) => !ids.has(target))).toEqual([]);
  });

  test('loads nothing, runs nothing, and its policy lets it', async () => {
    const response = await page();
    const text = await response.text();
    expect(text).not.toMatch(/<script|<link|<img|<iframe|<form| on\w+=|style="|@import|url\(/i);
    expect(text.match(/(?:href|src)="(?!#)[^"]*"/g)).toEqual(['href="/openapi.json"']);
    const style = /<style>([^]*?)<\/style>/.exec(text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  test('shows markup of the document as text', () => {
    const hostile = JSON.parse(
      JSON.stringify(GENERATED).replaceAll('Add a job', '<script>alert(1)</script>'),
    ) as typeof GENERATED;
    const text = openapiPage(hostile);
    expect(text).not.toContain('<script');
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });
});

test('html escapes what is put into it', () => {
  expect(html`<p title="${`"'<&>`}">${inline('a `<b>` c')}</p>`.text).toBe(
    '<p title="&quot;&#39;&lt;&amp;&gt;">a <code>&lt;b&gt;</code> c</p>',
  );
});

async function page(): Promise<Response> {
  return await createApp(app.deps()).fetch(new Request('https://leasehold.test/docs'));
}
