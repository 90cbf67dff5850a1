import type { Command } from 'commander';

import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../shared/limits.ts';
import { wholeNumber } from './option-values.ts';

export interface PageOptions {
  readonly limit?: number;
  readonly cursor?: string;
  readonly all?: boolean;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Undefined or null: this was the last. */
  readonly cursor: string | null;
}

const MAX_LIMIT = 100_000;

export function withPaging(command: Command): Command {
  return command
    .option(
      '--limit <n>',
      `at most so many (default: ${DEFAULT_PAGE_SIZE})`,
      wholeNumber(1, MAX_LIMIT),
    )
    .option('--cursor <cursor>', 'go on after an earlier answer: its next_cursor')
    .option('--all', 'every one, however many');
}

/** Reads page after page until there are as many as were asked for. A page may be short and still not be the last. */
export async function readPages<Item>(
  { limit = DEFAULT_PAGE_SIZE, cursor: from, all }: PageOptions,
  read: (limit: number, cursor: string | undefined) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  const wanted = all === true ? Number.POSITIVE_INFINITY : limit;
  const items: Item[] = [];
  let cursor: string | null | undefined = from;
  do {
    const page: Page<Item> = await read(
      Math.min(MAX_PAGE_SIZE, wanted - items.length),
      cursor ?? undefined,
    );
    items.push(...page.items);
    ({ cursor } = page);
  } while (cursor !== null && items.length < wanted);
  return { items, cursor };
}
