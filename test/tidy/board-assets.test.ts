/** What the board loads is committed, so that a deployment needs no build of its own: it must be what the sources give. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleBoard, compressedBytes } from '../../infra/build-board.ts';
import { MAX_BOARD_BYTES } from '../../shared/limits.ts';
import { ROOT } from './source-files.ts';

const FOLDER = join(ROOT, 'functions/board/assets');

test('the built board is what its sources give: npm run board', async () => {
  const built = await bundleBoard();
  expect(readdirSync(FOLDER).toSorted()).toEqual(built.map(({ name }) => name).toSorted());
  const stale = built.filter(
    ({ name, bytes }) => !readFileSync(join(FOLDER, name)).equals(Buffer.from(bytes)),
  );
  expect(stale.map(({ name }) => name)).toEqual([]);
});

test(`the board weighs at most ${MAX_BOARD_BYTES} bytes compressed`, () => {
  const files = readdirSync(FOLDER).map((name) => ({
    name,
    bytes: readFileSync(join(FOLDER, name)),
  }));
  expect(compressedBytes(files)).toBeLessThanOrEqual(MAX_BOARD_BYTES);
});
