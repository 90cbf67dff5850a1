import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { SCHEMA_VERSION } from '../../shared/queue/schema-version.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

test('health needs no token and never asks the database', async () => {
  const answer = await app.call('GET', '/v1/health', { scope: null });
  expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect((await app.call('HEAD', '/v1/health', { scope: null })).status).toBe(200);
  expect(app.http.endpoint.requests).toBe(0);
});

describe('ready', () => {
  test('says that database and schema fit', async () => {
    const { status, body } = await app.call('GET', '/v1/ready', { scope: 'read' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'ready', schema_version: body['code_schema_version'] });
  });

  test('is 503 with Retry-After when the database refuses', async () => {
    app.http.endpoint.faults.next({ kind: 'sql_error', code: '42501' });
    const { status, headers } = await app.call('GET', '/v1/ready');
    expect(status).toBe(503);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await app.call('GET', '/v1/ready')).status).toBe(200);
  });
});

describe('the schema check', () => {
  const CURRENT = `update leasehold.schema_version set version = ${SCHEMA_VERSION}, oldest_code = 1`;

  async function withSchema(
    change: string,
    work: () => Promise<void>,
    undo = CURRENT,
  ): Promise<void> {
    await app.database.pool.query(change);
    try {
      await work();
    } finally {
      await app.database.pool.query(undo);
    }
  }

  const list = async (): Promise<{ status: number; code: unknown; detail: string }> => {
    const deps = app.deps({ schema: { verified: false } });
    const answer = await app.callApp({ deps }, await app.request('GET', '/v1/jobs'));
    return {
      status: answer.status,
      code: answer.body['code'],
      detail: String(answer.body['detail']),
    };
  };

  test('names the remedy when the schema is missing', async () => {
    await withSchema(
      'alter schema leasehold rename to hidden',
      async () => {
        const { status, code, detail } = await list();
        expect([status, code]).toEqual([503, 'schema_mismatch']);
        expect(detail).toContain('npm run migrate');
      },
      'alter schema hidden rename to leasehold',
    );
  });

  test('refuses to serve a schema that this code is too old for', async () => {
    await withSchema(
      'update leasehold.schema_version set version = 99, oldest_code = 98',
      async () => {
        const { status, code, detail } = await list();
        expect([status, code]).toEqual([503, 'schema_mismatch']);
        expect(detail).toContain('deploy the newer code');
      },
    );
  });

  test('serves a newer schema that old code can live with', async () => {
    await withSchema('update leasehold.schema_version set version = 99', async () => {
      expect((await list()).status).toBe(200);
    });
  });

  test('asks for migrations when the schema is older than the code', async () => {
    await withSchema(
      'update leasehold.schema_version set version = 0, oldest_code = 0',
      async () => {
        expect((await list()).detail).toContain('npm run migrate');
      },
    );
  });

  test('is one question an isolate, and a failed one is asked again', async () => {
    const deps = app.deps({ schema: { verified: false } });
    const call = async (): Promise<number> =>
      (await app.callApp({ deps }, await app.request('GET', '/v1/jobs'))).status;
    app.http.endpoint.faults.next(
      { kind: 'sql_error', code: '42883' },
      { match: /schema_version/ },
    );
    expect(await call()).toBe(503);
    const before = app.http.endpoint.requests;
    expect(await call()).toBe(200);
    expect(await call()).toBe(200);
    expect(app.http.endpoint.requests - before).toBe(3);
  });
});
