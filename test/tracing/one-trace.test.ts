import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../functions/app.ts';
import type { AppDeps } from '../../functions/deps.ts';
import { createTracing, type Tracing } from '../../functions/tracing/otlp-tracing.ts';
import { webClock, webRandom, webTimer } from '../../functions/web-ports.ts';
import { createClient, type LeaseholdClient } from '../../shared/client/client.ts';
import { work } from '../../shared/client/work.ts';
import { parseConfig } from '../../shared/config.ts';
import { defineHandler } from '../../shared/handler.ts';
import { handlerRegistry } from '../../shared/handler-registry.ts';
import { SCOPES } from '../../shared/scopes.ts';
import { createPushApp, type PushApp } from '../push/support/push-app.ts';
import { AUTH_SECRET, POKE_KEY, signToken } from '../routes/support/app-harness.ts';
import { RecordingLog } from '../unit/support/recording-log.ts';
import { startCollector, type CollectedSpan, type Collector } from './support/collector.ts';

let push: PushApp;
let collector: Collector;
let service: Tracing;
let shop: Tracing;
let client: LeaseholdClient;
const log = new RecordingLog();
const seenByHandler: unknown[] = [];
const handlers = handlerRegistry([
  defineHandler({
    queue: 'handled',
    type: 'order.paid',
    schema: z.object({ order: z.number() }),
    run: async (job) => {
      seenByHandler.push(job.headers['traceparent']);
      if (job.payload.order < 0) throw new Error('a secret word');
    },
  }),
]);

const deps = (): AppDeps =>
  push.app.deps({ handlers, tracer: service.tracer, flushSpans: () => service.flush() });

beforeAll(async () => {
  push = await createPushApp();
  collector = await startCollector();
  const tracing = (serviceName: string): Tracing => {
    const settings = parseConfig({
      DATABASE_URL: 'postgres://a:b@db.example/x',
      AUTH_SECRET,
      POKE_SECRETS: POKE_KEY,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: serviceName,
    }).tracing;
    if (settings === undefined) throw new Error('tracing is off');
    const ports = { clock: webClock, timer: webTimer, random: webRandom, log };
    return createTracing(settings, { ...ports, fetch: (request) => fetch(request) });
  };
  service = tracing('jobs');
  shop = tracing('shop');
  client = createClient({
    baseUrl: 'https://leasehold.test',
    token: await signToken(SCOPES.join(' ')),
    fetch: async (request) => await createApp(deps()).fetch(request),
    tracer: shop.tracer,
  });
});
afterAll(async () => {
  await collector.close();
  await push.close();
});

/** Sends what is left of both, and gives the one span of this name since the last time. */
async function collected(): Promise<(name: string) => CollectedSpan> {
  await push.app.backgroundDone();
  await shop.flush();
  const spans = collector.spans.splice(0);
  return (name) => {
    const found = spans.filter((span) => span.name === name);
    if (found.length !== 1) {
      throw new Error(`${found.length} of ${name} in ${spans.map((span) => span.name).join(', ')}`);
    }
    return found[0] as CollectedSpan;
  };
}

const below = (parent: CollectedSpan): object => ({
  traceId: parent.traceId,
  parentSpanId: parent.spanId,
});

test('S1.19 one trace goes from the producer through the enqueue to the run of the handler', async () => {
  await client.enqueue({ queue: 'handled', type: 'order.paid', payload: { order: 1 } });
  await push.work('handled', deps());
  const span = await collected();
  const producer = span('enqueue handled');
  expect(producer).toMatchObject({ kind: 4, attributes: { 'service.name': 'shop' } });
  const request = span('POST /v1/jobs');
  expect(request).toMatchObject({ ...below(producer), kind: 2 });
  expect(request.attributes).toMatchObject({
    'service.name': 'jobs',
    'http.response.status_code': 201,
  });
  const run = span('process handled');
  expect(run).toMatchObject({ ...below(request), kind: 5, status: 0 });
  expect(run.attributes).toMatchObject({
    'leasehold.outcome': 'succeeded',
    'leasehold.job.attempt': 1,
  });
  expect(seenByHandler).toEqual([`00-${run.traceId}-${run.spanId}-01`]);
  // The claim belongs to whoever made it, and names the trace of the job that it took.
  const claim = span('claim handled');
  expect(claim).toMatchObject({ ...below(span('POST /v1/work')), links: [request.spanId] });
});

test('S1.19 a failed attempt is a span with its code, and never its text or payload', async () => {
  await client.enqueue({
    queue: 'handled',
    type: 'order.paid',
    payload: { order: -8_180_339_887 },
  });
  await push.work('handled', deps());
  const run = (await collected())('process handled');
  expect(run.status).toBe(2);
  expect(run.attributes).toMatchObject({ 'leasehold.outcome': 'retrying' });
  expect(run.attributes['error.type']).toEqual(expect.any(String));
  expect(JSON.stringify(run)).not.toMatch(/secret word|8180339887/);
});

test('S1.19 a pushed job carries the trace of its push to the receiver', async () => {
  await push.configure('pushed', '/ok');
  await client.enqueue({ queue: 'pushed', type: 'order.paid', payload: null });
  await push.work('pushed', deps());
  const span = await collected();
  const sent = span('push pushed');
  expect(sent).toMatchObject({ ...below(span('POST /v1/jobs')), kind: 3 });
  const [received] = push.receiver.received;
  expect(received?.headers['traceparent']).toBe(`00-${sent.traceId}-${sent.spanId}-01`);
});

test('S1.19 a pull worker continues the trace of its job', async () => {
  await client.enqueue({ queue: 'pulled', type: 'order.paid', payload: null });
  const stop = new AbortController();
  const seen: unknown[] = [];
  await work(
    client,
    'pulled',
    async (job) => {
      seen.push(job.headers['traceparent']);
      stop.abort();
    },
    { signal: stop.signal },
  );
  const span = await collected();
  const run = span('process pulled');
  expect(run).toMatchObject({
    ...below(span('POST /v1/jobs')),
    attributes: { 'service.name': 'shop' },
  });
  expect(seen).toEqual([`00-${run.traceId}-${run.spanId}-01`]);
});

test('a caller that does not sample is not sampled here, and its trace goes on', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
  const request = await push.app.request('POST', '/v1/jobs', {
    body: { queue: 'unsampled', type: 't', payload: null },
    headers: { traceparent },
  });
  const { body } = await push.app.callApp({ deps: deps() }, request);
  const job = await push.job(body['id'] as string);
  expect(job.headers['traceparent']).toMatch(
    /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/,
  );
  await push.app.backgroundDone();
  expect(collector.spans).toEqual([]);
});

test('spans that are refused are dropped with a line in the log, and no request fails', async () => {
  collector.status = 503;
  expect((await createApp(deps()).fetch(await push.app.request('GET', '/v1/queues'))).status).toBe(
    200,
  );
  await push.app.backgroundDone();
  collector.status = 200;
  expect(log.lines.filter(({ event }) => event === 'spans_dropped')).toMatchObject([
    { fields: { spans: 1, reason: 'refused', status: 503 } },
  ]);
});
