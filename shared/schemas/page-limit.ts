import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../limits.ts';
import { integerText } from './integer.ts';

/** `limit` of every list. */
export const pageLimit = integerText(1, MAX_PAGE_SIZE).default(DEFAULT_PAGE_SIZE);
