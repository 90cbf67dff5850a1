import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { SCOPES } from '../../../shared/scopes.ts';
import { createDeployment } from '../../support/deployment.ts';
import type { DeployedWorker, Deployment, TokenOf } from '../../support/deployment.ts';
import { launchChromium } from './chromium.ts';

/** A deployment in workerd, and people with browsers of their own before its board. */
export interface BoardHarness {
  readonly deployment: Deployment;
  readonly worker: DeployedWorker;
  readonly browser: Browser;
  /** A browser profile of its own, signed in, on the board. */
  person(who?: Partial<TokenOf>, options?: BrowserContextOptions): Promise<Person>;
  /** The same without a session, on no page. */
  stranger(options?: BrowserContextOptions): Promise<Person>;
  close(): Promise<void>;
}

export interface Person {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser found wrong: errors of scripts, breaches of the page's policy, files that did not load. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/**
 * @param env settings of the Worker on top of the usual ones
 * @example
 * const board = await createBoardHarness();
 * const anna = await board.person({ subject: 'anna' });
 * await anna.page.goto('/board/jobs');
 */
export async function createBoardHarness(
  env: Readonly<Record<string, string>> = {},
): Promise<BoardHarness> {
  const deployment = await createDeployment();
  const worker = await deployment.start(env);
  const browser = await launchChromium();
  const stranger = async (options: BrowserContextOptions = {}): Promise<Person> => {
    const context = await browser.newContext({ baseURL: worker.url, ...options });
    const page = await context.newPage();
    return { context, page, complaints: complaintsOf(page), close: () => context.close() };
  };
  return {
    deployment,
    worker,
    browser,
    stranger,
    person: async (who = {}, options = {}) => {
      const person = await stranger(options);
      const token = await deployment.token({ subject: 'tester', scopes: SCOPES, ...who });
      await signIn(person.page, token);
      return person;
    },
    close: async () => {
      await browser.close();
      await deployment.close();
    },
  };
}

/** As a person does it; ends on the board. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.goto('/board/sign-in');
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => url.pathname === '/board');
}

function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
  });
  page.on('requestfailed', (request) => {
    const failure = request.failure()?.errorText ?? '';
    // Whoever leaves a page cuts its streams off.
    if (failure !== 'net::ERR_ABORTED') complaints.push(`${failure}: ${request.url()}`);
  });
  return complaints;
}
