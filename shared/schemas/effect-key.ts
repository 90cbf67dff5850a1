import { MAX_KEY_CHARS } from '../limits.ts';
import { keyText } from './text.ts';

/** Names an effect within its job. */
export const effectKey = keyText(MAX_KEY_CHARS);
