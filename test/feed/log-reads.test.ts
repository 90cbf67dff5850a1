import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createAppHarness } from '../routes/support/app-harness.ts';
import type { AppHarness } from '../routes/support/app-harness.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

describe('GET /v1/events', () => {
  test('thin', async () => {
    const { body } = await app.call('POST', '/v1/jobs', {
      body: { queue: 'q', type: 't', payload: 1 },
    });
    expect(await app.call('GET', '/v1/events')).toMatchObject({
      body: { events: [{ type: 'created', job_id: body['id'] }] },
    });
    expect((await app.call('GET', `/v1/jobs/${String(body['id'])}/events`)).body).toMatchObject({
      events: [{}],
    });
    const stream = await app.deps().feed.open({});
    const reader = stream.getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    console.log(await next());
    await app.call('POST', '/v1/jobs', { body: { queue: 'q', type: 't', payload: 1 } });
    console.log(await next());
    console.log(await next());
    await reader.cancel();
  });
});
