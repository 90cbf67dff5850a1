import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createTracing } from '../../functions/tracing/otlp-tracing.ts';
import { webClock, webRandom, webTimer } from '../../functions/web-ports.ts';
import { parseConfig } from '../../shared/config.ts';
import { MAX_KEPT_SPANS, SPAN_EXPORT_TIMEOUT_MS } from '../../shared/limits.ts';
import type { TracingSettings } from '../../shared/tracing-settings.ts';
import { ManualClock } from '../unit/support/manual-clock.ts';
import { RecordingLog } from '../unit/support/recording-log.ts';

const BASE = {
  DATABASE_URL: 'postgres://a:b@db.example/x',
  AUTH_SECRET: 'a-secret-that-has-thirty-two-bytes',
  POKE_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
};
const URL_OF = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example' };

const settingsOf = (record: Readonly<Record<string, unknown>>): TracingSettings | undefined =>
  parseConfig({ ...BASE, ...record }).tracing;

describe('settings of tracing', () => {
  test('nothing is traced unless an endpoint is set', () => {
    expect(settingsOf({ OTEL_SERVICE_NAME: 'jobs' })).toBeUndefined();
  });

  test('spans go below the endpoint, headers stay secret', () => {
    const settings = settingsOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example/base/',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=hunter2%2C%20yes, authorization=Basic abc=',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    });
    expect(settings).toMatchObject({ serviceName: 'leasehold', ratio: 0.25 });
    expect(settings?.url.href).toBe('https://otlp.example/base/v1/traces');
    expect(settings?.headers.map(([name, value]) => [name, value.reveal()])).toEqual([
      ['x-key', 'hunter2, yes'],
      ['authorization', 'Basic abc='],
    ]);
    expect(inspect(settings, { depth: 9 })).not.toContain('hunter2');
  });

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', { OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://x' }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a:b@x' }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://x?key=1' }],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x', OTEL_EXPORTER_OTLP_HEADERS: 'key=1' },
    ],
    ['OTEL_EXPORTER_OTLP_HEADERS', { ...URL_OF, OTEL_EXPORTER_OTLP_HEADERS: 'no value' }],
    ['OTEL_EXPORTER_OTLP_HEADERS', { ...URL_OF, OTEL_EXPORTER_OTLP_HEADERS: 'a=%0d%0ab' }],
    ['OTEL_TRACES_SAMPLER_ARG', { ...URL_OF, OTEL_TRACES_SAMPLER_ARG: '1.5' }],
    ['OTEL_SERVICE_NAME', { ...URL_OF, OTEL_SERVICE_NAME: 'x'.repeat(201) }],
  ])('%s is refused when it is %j', (path, record) => {
    expect(() => settingsOf(record)).toThrow(path);
  });
});

describe('spans between two flushes', () => {
  const tracing = (
    fetch: (request: Request) => Promise<Response>,
    log = new RecordingLog(),
    timer = webTimer,
  ) => {
    const settings = settingsOf(URL_OF);
    if (settings === undefined) throw new Error('off');
    return createTracing(settings, { clock: webClock, random: webRandom, timer, log, fetch });
  };

  test(`${MAX_KEPT_SPANS} are kept, further ones dropped`, async () => {
    const sizes: number[] = [];
    const { tracer, flush } = tracing(async (request) => {
      sizes.push((await request.text()).split('"spanId"').length - 1);
      return new Response();
    });
    for (let i = 0; i < MAX_KEPT_SPANS + 1; i += 1) tracer.start('s', { kind: 'client' }).end();
    await flush();
    await flush();
    expect(sizes).toEqual([MAX_KEPT_SPANS]);
  });

  test('a collector that hangs is waited for no longer than its time', async () => {
    const time = new ManualClock();
    const log = new RecordingLog();
    const hangs = (): Promise<Response> => new Promise(() => undefined);
    const { tracer, flush } = tracing(hangs, log, time.timer);
    tracer.start('s', { kind: 'client' }).end();
    const flushed = flush();
    await time.advance(SPAN_EXPORT_TIMEOUT_MS - 1);
    expect(log.lines).toEqual([]);
    await time.advance(1);
    await flushed;
    expect(log.lines).toMatchObject([{ event: 'spans_dropped', fields: { reason: 'timeout' } }]);
  });
});
