import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBoardHarness } from './support/board-harness.ts';
import type { BoardHarness } from './support/board-harness.ts';
import { withBrowser } from './support/chromium.ts';

withBrowser('signing in to the board', () => {
  let board: BoardHarness;
  beforeAll(async () => {
    board = await createBoardHarness();
  });
  afterAll(() => board.close());

  test('a person with a token is let in, and the page says who', async () => {
    const anna = await board.person({ subject: 'anna' });
    await anna.page.getByText('Signed in as anna').waitFor();
    expect(anna.complaints).toEqual([]);
    await anna.close();
  });
});
