import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAgent } from './support/agent.ts';
import { createBoardHarness } from './support/board-harness.ts';
import type { BoardHarness, Person } from './support/board-harness.ts';
import { withBrowser } from './support/chromium.ts';
import { appendEvent, quarantine } from './support/outbox.ts';

/** Markup that would run, wherever it came to be markup. */
const MARKUP = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>`;
const hostile = (place: string): string => `${place} ${MARKUP} '"&{{1}}\${1}`;

const QUEUE = `q<svg onload=window.ran=1>`;

/** What a page holds once something of it ran. */
type Marked = typeof globalThis & { readonly ran?: number };

withBrowser('texts of others on the board', () => {
  let board: BoardHarness;
  let person: Person;
  let jobs: { readonly waiting: string; readonly running: string; readonly dead: string };
  beforeAll(async () => {
    board = await createBoardHarness();
    jobs = await fill(board);
    person = await board.person({ subject: hostile('person') });
  });
  afterAll(() => board.close());

  const queue = encodeURIComponent(QUEUE);
  const PAGES: readonly (readonly [string, () => string, string])[] = [
    ['overview', () => '/board', QUEUE],
    ['jobs', () => '/board/jobs', 'type <img'],
    ['a job that waits', () => `/board/jobs/${jobs.waiting}`, 'tag <img'],
    ['a job that runs', () => `/board/jobs/${jobs.running}`, 'progress <img'],
    ['a dead job', () => `/board/jobs/${jobs.dead}`, 'message <img'],
    ['dead letters', () => '/board/dead', 'owner <img'],
    ['escalations', () => '/board/escalations', 'question <img'],
    ['a queue', () => `/board/queues/${queue}`, QUEUE],
    ['schedules', () => '/board/schedules', 'schedule <img'],
    ['activity', () => '/board/activity', 'progress <img'],
    ['activity of a queue', () => `/board/activity?queue=${queue}`, 'type <img'],
    ['the outbox', () => '/board/outbox', 'event error <img'],
    ['the past', () => `/board/history?at=${new Date().toISOString()}`, 'type <img'],
  ];

  test.each(PAGES)('%s: shown as text', async (_name, path, sign) => {
    await person.page.goto(path());
    await person.page.getByText(sign).first().waitFor();
    for (const button of await person.page.getByRole('button', { name: /^Show / }).all()) {
      await button.click();
    }
    expect(await person.page.evaluate(() => (globalThis as Marked).ran)).toBeUndefined();
    expect(await person.page.locator('img, svg[onload]').count()).toBe(0);
    expect(person.complaints).toEqual([]);
  });

  test('a payload is hidden until it is asked for, and then text', async () => {
    await person.page.goto(`/board/jobs/${jobs.waiting}`);
    await person.page.getByText('tag <img').first().waitFor();
    expect(await person.page.getByText('payload <img').count()).toBe(0);
    await person.page.getByRole('button', { name: 'Show payload' }).click();
    await person.page.getByText('payload <img').first().waitFor();
    expect(await person.page.evaluate(() => (globalThis as Marked).ran)).toBeUndefined();
  });

  test('a search and an address that hold markup are text too', async () => {
    const search = encodeURIComponent(MARKUP);
    for (const path of [`/board/jobs?tag=${search}&queue=${search}`, `/board/jobs/${search}`]) {
      await person.page.goto(path);
      await person.page.getByRole('heading').first().waitFor();
      expect(await person.page.evaluate(() => (globalThis as Marked).ran)).toBeUndefined();
      expect(await person.page.locator('img').count()).toBe(0);
    }
  });

  describe('even if a text came to be markup', () => {
    test('the browser makes none of it, runs no script, and sends nothing elsewhere', async () => {
      const mallory = await board.person();
      const { page } = mallory;
      const done = await page.evaluate(async (markup) => {
        const outcome: string[] = [];
        const breaches: string[] = [];
        document.addEventListener('securitypolicyviolation', (event) =>
          breaches.push(event.effectiveDirective),
        );
        try {
          document.body.innerHTML = markup;
        } catch (error) {
          outcome.push((error as Error).name);
        }
        const script = document.createElement('script');
        try {
          script.textContent = 'window.ran=1';
        } catch (error) {
          outcome.push((error as Error).name);
        }
        document.body.append(script);
        const image = document.createElement('img');
        try {
          image.setAttribute('onerror', 'window.ran=1');
        } catch (error) {
          outcome.push((error as Error).name);
        }
        image.src = 'https://evil.example/x.png';
        document.body.append(image);
        await fetch('https://evil.example/').catch((error: unknown) =>
          outcome.push((error as Error).name),
        );
        // Breaches are told in order, so the one of this form is the last.
        await new Promise<void>((resolve) => {
          document.addEventListener('securitypolicyviolation', (event) => {
            if (event.effectiveDirective === 'form-action') resolve();
          });
          const form = document.createElement('form');
          form.action = 'https://evil.example/';
          document.body.append(form);
          form.submit();
        });
        return { outcome, breaches: [...new Set(breaches)], ran: (window as Marked).ran ?? null };
      }, MARKUP);
      expect(done).toEqual({
        outcome: ['TypeError', 'TypeError', 'TypeError', 'TypeError'],
        breaches: expect.arrayContaining([
          'require-trusted-types-for',
          'img-src',
          'connect-src',
          'form-action',
        ]) as unknown,
        ran: null,
      });
      await mallory.close();
    });
  });
});

async function fill(
  board: BoardHarness,
): Promise<{ waiting: string; running: string; dead: string }> {
  const agent = await createAgent(board, hostile('agent'));
  const queue = encodeURIComponent(QUEUE);
  await agent.call('PUT', `/v1/queues/${queue}`, { delivery: 'pull', max_unknown_attempts: 1 });
  const add = async (type: string): Promise<string> => {
    const job = {
      queue: QUEUE,
      type: hostile(type).slice(0, 120),
      payload: { [hostile('key')]: hostile('payload') },
      tags: [hostile('tag').slice(0, 100)],
    };
    return ((await agent.call('POST', '/v1/jobs', job)) as { readonly id: string }).id;
  };
  const dead = await add('type');
  await (await agent.claim(queue)).fail(hostile('code').slice(0, 100), hostile('message'));
  await agent.call('PATCH', `/v1/dead-letters/${dead}`, {
    owner: hostile('owner'),
    note: hostile('note'),
  });
  await add('type');
  await (await agent.claim(queue)).ask(hostile('question'));
  const running = await add('type');
  await (await agent.claim(queue)).progress(hostile('progress'));
  const waiting = await add('type');
  await agent.call('POST', `/v1/queues/${queue}/pause`, { reason: hostile('reason') });
  const event = {
    aggregate_type: hostile('aggregate').slice(0, 100),
    aggregate_id: hostile('aggregate id'),
    type: hostile('event type').slice(0, 100),
  };
  await quarantine(board, agent, event, {
    code: hostile('event code').slice(0, 100),
    message: hostile('event error'),
  });
  await appendEvent(agent, event);
  const name = encodeURIComponent(hostile('schedule').replaceAll('/', '|').slice(0, 128));
  await agent.call('PUT', `/v1/schedules/${name}`, {
    cron: '0 3 * * *',
    zone: 'UTC',
    queue: QUEUE,
    type: 'nightly',
    payload: {},
  });
  return { waiting, running, dead };
}
