import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { WorkerBuild } from '../../../infra/local/build-worker.ts';
import { openStateFolder } from '../../../infra/local/state-folder.ts';
import type { migrate } from '../../../infra/migrate.ts';
import type { createClient } from '../../../shared/client/client.ts';
import type { work } from '../../../shared/client/work.ts';
import type { processOnceIn } from '../../../shared/inbox/process-once.ts';
import type { receiveSignedEvent } from '../../../shared/inbox/receive-signed-event.ts';
import type { appendIn } from '../../../shared/transaction/append-in-transaction.ts';
import type { enqueueIn } from '../../../shared/transaction/enqueue-in-transaction.ts';
import type { pgTransaction } from '../../../shared/transaction/pg-transaction.ts';

const ARCHIVE = fileURLToPath(new URL('previous-release.json.br', import.meta.url));
export const MIGRATOR_FILE = 'infra/migrate.ts';
export const LIBRARY_FILE = 'library.mjs';

/** What producers, consumers and pull workers call, and where the release has it. */
export const LIBRARY: Readonly<Record<keyof Library, string>> = {
  createClient: 'shared/client/client.ts',
  work: 'shared/client/work.ts',
  enqueueIn: 'shared/transaction/enqueue-in-transaction.ts',
  appendIn: 'shared/transaction/append-in-transaction.ts',
  pgTransaction: 'shared/transaction/pg-transaction.ts',
  processOnceIn: 'shared/inbox/process-once.ts',
  receiveSignedEvent: 'shared/inbox/receive-signed-event.ts',
};

export interface Library {
  readonly createClient: typeof createClient;
  readonly work: typeof work;
  readonly enqueueIn: typeof enqueueIn;
  readonly appendIn: typeof appendIn;
  readonly pgTransaction: typeof pgTransaction;
  readonly processOnceIn: typeof processOnceIn;
  readonly receiveSignedEvent: typeof receiveSignedEvent;
}

interface Archive {
  readonly commit: string;
  readonly worker: Omit<WorkerBuild, 'assets'>;
  readonly files: Readonly<Record<string, string>>;
}

/** A release as it was: its schema, its migrator, its Worker and its library. */
export interface PreviousRelease {
  readonly commit: string;
  readonly worker: WorkerBuild;
  readonly library: Library;
  readonly migrate: typeof migrate;
  /** Deletes what was unpacked. */
  remove(): void;
}

export function writeArchive(archive: Archive): void {
  writeFileSync(
    ARCHIVE,
    brotliCompressSync(JSON.stringify(archive), {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      },
    }),
  );
}

/** Unpacks it inside the checkout, where its code finds the installed packages. */
export async function unpackPreviousRelease(): Promise<PreviousRelease> {
  const archive = JSON.parse(brotliDecompressSync(readFileSync(ARCHIVE)).toString()) as Archive;
  const folder = mkdtempSync(join(openStateFolder().path, 'previous-release-'));
  for (const [file, text] of Object.entries(archive.files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const noAssets = join(folder, 'no-assets');
  mkdirSync(noAssets);
  const load = async (file: string): Promise<unknown> =>
    await import(pathToFileURL(join(folder, file)).href);
  const { migrate: itsMigrate } = (await load(MIGRATOR_FILE)) as {
    readonly migrate: PreviousRelease['migrate'];
  };
  return {
    commit: archive.commit,
    worker: {
      ...archive.worker,
      assets: { directory: noAssets, binding: 'ASSETS', workerFirst: true },
    },
    library: (await load(LIBRARY_FILE)) as Library,
    migrate: itsMigrate,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
