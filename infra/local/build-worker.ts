import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { unstable_readConfig } from 'wrangler';
import { ROOT } from './state-folder.ts';

/** A Worker as `wrangler deploy` would upload it. */
export interface WorkerBuild {
  readonly name: string;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  /** Text of the bundled module. */
  readonly code: string;
  /** `[vars]` of wrangler.toml. */
  readonly vars: Readonly<Record<string, string>>;
  /** Binding name to Worker name. */
  readonly services: Readonly<Record<string, string>>;
  /** Binding name to the class of durable objects in this Worker. */
  readonly durableObjects: Readonly<Record<string, string>>;
  /** Files that go with it: their folder, the binding that reads them, and whether requests come to it before them. */
  readonly assets: BuiltAssets;
}

export interface BuiltAssets {
  readonly directory: string;
  readonly binding: string;
  readonly workerFirst: boolean;
}

/**
 * Builds the Worker with wrangler's own bundler and reads its settings from wrangler.toml. Needs no network.
 *
 * @param outdir where the bundle goes
 * @param entry another entry than wrangler.toml's `main`, from the top of the checkout
 * @throws with wrangler's report when the code does not bundle.
 */
export async function buildWorker(outdir: string, entry?: string): Promise<WorkerBuild> {
  const config = readConfig();
  const main = entry ?? config.main;
  await wrangler([
    'deploy',
    ...(entry === undefined ? [] : [entry]),
    '--dry-run',
    '--env=', // the settings at the top of the file
    '--outdir',
    outdir,
  ]);
  return {
    name: config.name,
    compatibilityDate: config.compatibility_date,
    compatibilityFlags: config.compatibility_flags,
    code: readFileSync(join(outdir, basename(main).replace(/\.ts$/, '.js')), 'utf8'),
    vars: config.vars,
    services: Object.fromEntries(config.services.map(({ binding, service }) => [binding, service])),
    assets: {
      directory: resolve(ROOT, config.assets.directory),
      binding: config.assets.binding,
      workerFirst: config.assets.run_worker_first === true,
    },
    durableObjects: Object.fromEntries(
      config.durable_objects.bindings.map(({ name, class_name: className }) => [name, className]),
    ),
  };
}

/** The part of wrangler's configuration that a local run needs; wrangler has filled in its defaults. */
interface WranglerConfig {
  readonly name: string;
  readonly main: string;
  readonly compatibility_date: string;
  readonly compatibility_flags: readonly string[];
  readonly vars: Readonly<Record<string, string>>;
  readonly services: readonly { readonly binding: string; readonly service: string }[];
  readonly assets: {
    readonly directory: string;
    readonly binding: string;
    readonly run_worker_first?: boolean;
  };
  readonly durable_objects: {
    readonly bindings: readonly { readonly name: string; readonly class_name: string }[];
  };
}

function readConfig(): WranglerConfig {
  const config: unknown = unstable_readConfig(
    { config: join(ROOT, 'wrangler.toml') },
    { hideWarnings: true },
  );
  return config as WranglerConfig;
}

function wrangler(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(ROOT, 'node_modules', '.bin', 'wrangler'), args, {
      cwd: ROOT,
      env: {
        ...process.env,
        CLOUDFLARE_CF_FETCH_ENABLED: 'false',
        // Its own settings and logs belong to this checkout, not to the home folder.
        XDG_CONFIG_HOME: join(ROOT, '.leasehold', 'config'),
        WRANGLER_SEND_METRICS: 'false',
        WRANGLER_LOG_SANITIZE: 'true',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let report = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (report += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (report += text));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`The Worker does not build:\n${report.trim()}`));
    });
  });
}
