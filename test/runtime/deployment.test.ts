/** What `wrangler deploy` would upload, for each environment of wrangler.toml, and how large it is. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { unstable_readConfig as readConfig } from 'wrangler';
import { describe, expect, inject, test } from 'vitest';
import { ROOT } from '../../infra/local/state-folder.ts';
import { parseConfig } from '../../shared/config.ts';

const FILE = `${ROOT}/wrangler.toml`;
/** The free plan takes 3 MB of compressed code. */
const MAX_COMPRESSED_KIB = 600;
/** The part of wrangler.toml that is looked at, with wrangler's defaults filled in. */
interface Settings {
  readonly name: string;
  readonly services: readonly unknown[];
  readonly durable_objects: { readonly bindings: readonly unknown[] };
  readonly migrations: readonly unknown[];
  readonly triggers: { readonly crons: readonly string[] };
  readonly observability: unknown;
  readonly assets: unknown;
  readonly vars: Readonly<Record<string, string>>;
}

const SECRETS = {
  DATABASE_URL: 'postgres://app:secret@ep-x.eu.aws.neon.tech/jobs',
  AUTH_SECRET: 'a-secret-that-has-thirty-two-bytes',
  POKE_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
};

test('C.6 wrangler builds the Worker, and the bundle stays small', () => {
  const { code } = inject('worker');
  const compressed = Math.round(gzipSync(code).length / 1024);
  process.stdout.write(
    `Worker bundle: ${Math.round(code.length / 1024)} KiB, ${compressed} KiB compressed\n`,
  );
  expect(compressed).toBeLessThan(MAX_COMPRESSED_KIB);
});

describe.each([undefined, 'staging'])('C.6 environment %s', (env) => {
  const read: unknown = readConfig({ config: FILE, env }, { hideWarnings: true });
  const config = read as Settings;

  test('is a Worker of its own, bound to itself, to its own wake clock and live feed', () => {
    expect(config.name).toBe(env === undefined ? 'leasehold' : `leasehold-${env}`);
    expect(config.services).toEqual([{ binding: 'SELF', service: config.name }]);
    expect(config.durable_objects.bindings).toEqual([
      { name: 'WAKE_CLOCK', class_name: 'WakeClock' },
      { name: 'EVENT_FEED', class_name: 'EventFeed' },
    ]);
    expect(config.migrations).toEqual([
      { tag: 'v1', new_sqlite_classes: ['WakeClock'] },
      { tag: 'v2', new_sqlite_classes: ['EventFeed'] },
    ]);
  });

  test('brings the files of the board, behind the Worker', () => {
    const directory = 'functions/board/assets';
    expect(config.assets).toEqual({ directory, binding: 'ASSETS', run_worker_first: true });
  });

  test('has a cron, and its logs are kept', () => {
    expect(config.triggers.crons).toEqual(['* * * * *']);
    expect(config.observability).toMatchObject({ enabled: true });
  });

  test('sets no secret, and nothing that the Worker does not read', () => {
    const parsed = parseConfig({ ...SECRETS, ...config.vars });
    expect(parsed).toMatchObject({ timedWakes: true, safetySweepMs: 3_600_000 });
    expect(Object.keys(config.vars).filter((name) => name in SECRETS)).toEqual([]);
    expect(() =>
      parseConfig({
        ...SECRETS,
        ...Object.fromEntries(Object.keys(config.vars).map((name) => [name, '?'])),
      }),
    ).toThrow(new RegExp(Object.keys(config.vars).join('.*')));
  });
});

test('every secret that the Worker needs is named in wrangler.toml, by name alone', () => {
  const text = readFileSync(FILE, 'utf8');
  for (const name of [...Object.keys(SECRETS), 'PUSH_SECRETS']) expect(text).toContain(name);
  expect(text).not.toMatch(/whsec_\w{8}|postgres:\/\/\w+:/);
});
