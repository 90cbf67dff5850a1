import { MAX_AGGREGATE_ID_CHARS } from '../limits.ts';
import { typeName } from './names.ts';
import { keyText } from './text.ts';

/** What an event is about: a kind of thing, such as `order`, and which one. */
export const aggregateType = typeName;
export const aggregateId = keyText(MAX_AGGREGATE_ID_CHARS);
