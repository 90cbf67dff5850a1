import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import type { BoardAssets } from '../board/board-assets.ts';

interface KeptFile {
  readonly plain: Uint8Array<ArrayBuffer>;
  /** Function URLs compress nothing themselves. */
  readonly compressed: Uint8Array<ArrayBuffer>;
  readonly digest: string;
}

/**
 * The files of a layer, each read once and kept.
 *
 * @param folder where Lambda unpacks the layer
 */
export function createLayerAssets(folder: string): BoardAssets {
  const kept = new Map<string, KeptFile>();
  return {
    fetch: async (name, headers) => {
      const file = kept.get(name) ?? (await readKept(join(folder, name)));
      if (file === undefined) return new Response(null, { status: 404 });
      kept.set(name, file);
      const compresses = /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
        headers.get('accept-encoding') ?? '',
      );
      const etag = `"${file.digest}${compresses ? '-gzip' : ''}"`;
      const answer = {
        etag,
        vary: 'accept-encoding',
        ...(compresses ? { 'content-encoding': 'gzip' } : {}),
      };
      if (isAmong(etag, headers.get('if-none-match'))) {
        return new Response(null, { status: 304, headers: answer });
      }
      return new Response(compresses ? file.compressed : file.plain, { headers: answer });
    },
  };
}

async function readKept(path: string): Promise<KeptFile | undefined> {
  const bytes = await readFile(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
  if (bytes === undefined) return undefined;
  return {
    plain: Uint8Array.from(bytes),
    compressed: Uint8Array.from(gzipSync(bytes, { level: 9 })),
    digest: createHash('sha256').update(bytes).digest('base64url').slice(0, 27),
  };
}

function isAmong(etag: string, list: string | null): boolean {
  const tags = (list ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag);
}
