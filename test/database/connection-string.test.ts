import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseConnectionString } from '../../shared/database/connection-string.ts';
import { createNeonSql } from '../../shared/database/neon-sql.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { NODE_PORTS } from '../support/pg-sql.ts';

function thrownBy(run: () => unknown): LeaseholdError {
  try {
    run();
  } catch (error) {
    if (error instanceof LeaseholdError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a connection string', () => {
  test('gives its harmless parts', () => {
    expect(
      parseConnectionString('postgres://app:p%40ss@ep-x.neon.tech:5432/jobs?sslmode=require'),
    ).toEqual({
      user: 'app',
      host: 'ep-x.neon.tech',
      port: '5432',
      database: 'jobs',
    });
    expect(parseConnectionString('postgresql://a%20b:p@[::1]:44/d%C3%A9')).toEqual({
      user: 'a b',
      host: '[::1]',
      port: '44',
      database: 'dé',
    });
  });

  const BAD = [
    ['', 'does not start with postgres://'],
    ['hunter2', 'does not start with postgres://'],
    ['"postgres://app:hunter2@h/db"', 'does not start with postgres://'],
    ['mysql://app:hunter2@h/db', 'does not start with postgres://'],
    ['postgres:app:hunter2@h/db', 'does not start with postgres://'],
    ['postgres://app:hunter2@h:port/db', 'not a valid URL'],
    ['postgres://app:hunter2#x@h/db', 'not a valid URL'],
    ['postgres://app:hunter2@/db', 'not a valid URL'],
    ['postgres://app:hunter2%@h/db', 'bad %-encoding in its password'],
    ['postgres://:hunter2@h/db', 'names no user'],
    ['postgres://app@h/hunter2', 'names no password'],
    ['postgres://app:hunter2@h', 'names no database'],
    ['postgres://app:hunter2@h/db/other', 'names more than a database'],
    ['postgres://app:hunter2@h/db\n', 'contains white space'],
    ['postgres://h', 'names no user; names no password; names no database'],
  ] as const;

  test.each(BAD)('%j is refused, and never repeated', (text, rule) => {
    for (const run of [
      () => parseConnectionString(text),
      () => createNeonSql({ connectionString: text, ...NODE_PORTS }),
    ]) {
      const error = thrownBy(run);
      expect(error.code).toBe('config_invalid');
      expect(error.cause).toBeUndefined();
      expect(error.message).toContain(rule);
      expect(error.problems.map(({ path }) => path)).toContain('DATABASE_URL');
      const everything = `${inspect(error, { depth: 9, showHidden: true })} ${error.stack} ${JSON.stringify(error)}`;
      // The name of this file's helpers must not be what is found.
      expect(everything).not.toContain('hunter2');
    }
  });

  test('a local host needs the port of its endpoint', () => {
    const connectionString = 'postgres://app:hunter2@localhost/db';
    const error = thrownBy(() => createNeonSql({ connectionString, ...NODE_PORTS }));
    expect(error.code).toBe('config_invalid');
    expect(error.message).toContain('without the port of its SQL endpoint');
  });
});
