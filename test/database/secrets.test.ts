import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createNeonSql } from '../../shared/database/neon-sql.ts';
import { redactor } from '../../shared/database/redact.ts';
import type { LogFields } from '../../shared/ports.ts';
import { createVirtualTime } from './support/virtual-time.ts';

/** As it stands in the URL, and as the server knows it. */
const ENCODED = 'hunter%402%25%C3%A9x';
const PASSWORD = 'hunter@2%éx';
const CONNECTION_STRING = `postgres://app:${ENCODED}@ep-x.eu-central-1.aws.neon.tech/jobs`;

interface Told {
  readonly error: unknown;
  readonly logged: readonly unknown[];
}

async function tell(answer: (init: RequestInit) => Promise<Response>): Promise<Told> {
  const time = createVirtualTime();
  const logged: unknown[] = [];
  const record = (event: string, fields?: LogFields): void => void logged.push([event, fields]);
  const sql = createNeonSql({
    connectionString: CONNECTION_STRING,
    clock: time.clock,
    timer: time.timer,
    random: { next: () => 0 },
    log: { info: record, warn: record, error: record },
    fetch: (_url, init) => answer(init),
  });
  const failed = sql.query('select 1', []).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { error: await time.runUntil(failed), logged };
}

function everything(value: unknown): string {
  const stack = value instanceof Error ? `${value.stack} ${everything(value.cause)}` : '';
  return `${inspect(value, { depth: 20, showHidden: true, maxStringLength: null })} ${JSON.stringify(value)} ${stack}`;
}

const header = (init: RequestInit): string =>
  new Headers(init.headers).get('neon-connection-string') ?? '';

describe('no connection string and no password is ever told', () => {
  test.each<[string, (init: RequestInit) => Promise<Response>]>([
    [
      'fetch echoes the header in its error',
      (init) => Promise.reject(new TypeError(`"${header(init)}" is an invalid header value`)),
    ],
    [
      'fetch echoes it in a cause',
      (init) => Promise.reject(new TypeError('fetch failed', { cause: new Error(header(init)) })),
    ],
    [
      'fetch throws an object that holds it',
      (init) => Promise.reject(Object.assign(new Error('x'), { url: header(init), init })),
    ],
    ['fetch throws a text', (init) => Promise.reject(header(init) as never)],
    [
      'an error page echoes it',
      async (init) => new Response(`<p>${header(init)}</p>`, { status: 502 }),
    ],
    ['an error page echoes the password', async () => new Response(PASSWORD, { status: 500 })],
    [
      'a Postgres error echoes the password',
      async () =>
        Response.json(
          {
            code: '28P01',
            severity: 'FATAL',
            message: `bad ${PASSWORD}`,
            detail: PASSWORD,
            hint: ENCODED,
            where: PASSWORD,
          },
          { status: 400 },
        ),
    ],
    [
      'a long text hides it at the cut',
      async () => new Response('x'.repeat(460) + PASSWORD.repeat(3), { status: 404 }),
    ],
    [
      'a routine of ours repeats it',
      async () =>
        Response.json(
          { code: 'LH001', severity: 'ERROR', message: `queue: not ${PASSWORD}` },
          { status: 400 },
        ),
    ],
  ])('%s', async (_name, answer) => {
    const { error, logged } = await tell(answer);
    expect(error).toBeInstanceOf(Error);
    const told = everything(error) + everything(logged);
    expect(told).not.toContain('hunter');
    expect(told).not.toContain('postgres://');
    expect(told).not.toContain('postgresql://');
  });

  test('a redactor knows every form of a password', () => {
    const redact = redactor('postgres://app:p@ss "1@h/db');
    expect(
      redact('p@ss "1 and p%40ss%20%221 and {"p":"p@ss \\"1"} and postgresql://x:y@z/w?q'),
    ).toBe('[redacted] and [redacted] and {"p":"[redacted]"} and [redacted]');
    expect(redactor('postgres://app:a%25@h/db')('a%2525')).toBe('[redacted]');
    expect(redact('nothing to hide')).toBe('nothing to hide');
  });
});
