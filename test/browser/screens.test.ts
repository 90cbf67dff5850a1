/** The main screens as people see them, in light, in dark and on a phone: nothing that axe calls serious, no complaint of the
 * browser. `npm run screens` keeps the pictures in docs/screens. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from '../../infra/local/state-folder.ts';
import { seriousFaults } from './support/axe.ts';
import { createBoardHarness, type BoardHarness, type Person } from './support/board-harness.ts';
import { withBrowser } from './support/chromium.ts';
import { fillBoard, type SampleBoard } from './support/sample-board.ts';

const FOLDER = join(ROOT, 'docs/screens');
/** Of these a picture is kept. */
const KEPT = new Set(
  process.env['SCREENS'] === 'keep'
    ? ['overview', 'jobs', 'job', 'for-people', 'dead', 'queue']
    : [],
);

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  phone: {
    colorScheme: 'light',
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  },
};

const SCREENS: Readonly<
  Record<string, (sample: SampleBoard) => readonly [path: string, sign: string]>
> = {
  overview: () => ['/board', 'refunds'],
  jobs: () => ['/board/jobs', 'invoice.archive'],
  job: ({ running }) => [`/board/jobs/${running}`, '3,200 of 8,000 products'],
  'retried-job': ({ retried }) => [`/board/jobs/${retried}`, 'font_missing'],
  'for-people': () => ['/board/escalations', 'May I approve it?'],
  dead: () => ['/board/dead', 'template_missing'],
  queue: () => ['/board/queues/refunds', 'a person is asked'],
  schedules: () => ['/board/schedules', 'nightly-import'],
  activity: () => ['/board/activity', 'Activity'],
  past: ({ before }) => [`/board/history?at=${before.toISOString()}`, 'As it was at'],
  outbox: () => ['/board/outbox', 'No event is quarantined'],
};

/** Screens on which things happen. */
const STIRRED = new Set(['overview', 'activity']);

withBrowser('the screens of the board', () => {
  let board: BoardHarness;
  let sample: SampleBoard;
  beforeAll(async () => {
    board = await createBoardHarness();
    sample = await fillBoard(board);
    if (KEPT.size > 0) mkdirSync(FOLDER, { recursive: true });
  });
  afterAll(() => board.close());

  describe.each(Object.entries(LOOKS))('%s', (look, options) => {
    let person: Person;
    beforeAll(async () => {
      person = await board.person({ subject: 'maria' }, options);
    });
    afterAll(() => person.close());

    test.each(Object.entries(SCREENS))('%s', async (name, place) => {
      const [path, sign] = place(sample);
      const complained = person.complaints.length;
      await person.page.goto(path);
      await person.page.getByText(sign).first().waitFor();
      await person.page.getByText('Live', { exact: true }).waitFor();
      if (STIRRED.has(name)) {
        await sample.stir();
        await person.page.getByRole('listitem').filter({ hasText: 'Progress' }).nth(1).waitFor();
      }
      if (KEPT.has(name))
        await person.page.screenshot({ path: join(FOLDER, `${name}-${look}.png`) });
      expect(await seriousFaults(person.page)).toEqual([]);
      expect(await overflow(person.page)).toBe(0);
      expect(person.complaints.slice(complained)).toEqual([]);
    });
  });
});

/** By how many pixels the page is wider than its window. */
async function overflow(page: Page): Promise<number> {
  const root = 'document.documentElement';
  return await page.evaluate<number>(`${root}.scrollWidth - ${root}.clientWidth`);
}
