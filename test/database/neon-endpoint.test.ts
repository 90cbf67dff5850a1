import { neonConfig } from '@neondatabase/serverless';
import { afterEach, describe, expect, test } from 'vitest';
import { neonEndpoint } from '../../shared/database/neon-endpoint.ts';
import { createNeonSql } from '../../shared/database/neon-sql.ts';
import { NODE_PORTS } from '../support/pg-sql.ts';
import { CONNECTION_STRING, rowsAnswer } from './support/fake-answers.ts';

/** The driver's own rule, read before anything replaces it. */
const driverRule = neonConfig.fetchEndpoint;
afterEach(() => {
  neonConfig.fetchEndpoint = neonEndpoint;
});

describe('where a query goes', () => {
  test.each([
    ['127.0.0.1', 'http://127.0.0.1:4444/sql'],
    ['localhost', 'http://localhost:4444/sql'],
    ['[::1]', 'http://[::1]:4444/sql'],
  ])('%s: to the local endpoint', (host, url) => {
    expect(neonEndpoint(host, '4444')).toBe(url);
  });

  test.each([
    'ep-x-pooler.us-east-2.aws.neon.tech',
    'ep-x.c-2.eu-central-1.aws.neon.tech',
    'localhost.example.com',
    'db.localtest.me',
    '127.0.0.10',
  ])('%s: where the driver itself would send it', (host) => {
    if (typeof driverRule !== 'function') throw new TypeError('the driver has a function');
    expect(neonEndpoint(host, '5432')).toBe(driverRule(host, '5432', { jwtAuth: false }));
    expect(neonEndpoint(host, '5432')).toMatch(/^https:/);
  });

  test('what is set for the whole process does not depend on the instance', () => {
    createNeonSql({ connectionString: CONNECTION_STRING, ...NODE_PORTS });
    const before: readonly unknown[] = [neonConfig.fetchEndpoint, neonConfig.fetchFunction];
    const connectionString = 'postgres://u:p@127.0.0.1:4444/db';
    createNeonSql({
      connectionString,
      ...NODE_PORTS,
      fetch: () => Promise.resolve(rowsAnswer()),
    });
    expect(neonConfig.fetchEndpoint).toBe(before[0]);
    expect(neonConfig.fetchFunction).toBe(before[1]);
  });

  test('two instances with a fetch of their own do not disturb each other', async () => {
    const named = (name: string) =>
      createNeonSql({
        connectionString: CONNECTION_STRING,
        ...NODE_PORTS,
        fetch: () => Promise.resolve(rowsAnswer([[name]])),
      });
    const [one, two] = [named('one'), named('two')];
    const answers = await Promise.all([one.query('q', []), two.query('q', []), one.query('q', [])]);
    expect(answers).toEqual([[{ c1: 'one' }], [{ c1: 'two' }], [{ c1: 'one' }]]);
  });
});
