import type { Control } from './control.ts';
import { cteText } from './cte-text.ts';
import { inLimit } from './in-limit.ts';
import { noFloors } from './no-floors.ts';
import { orPredicate, orPredicateInOrder } from './or-predicate.ts';
import { product } from './product.ts';
import { reference } from './reference.ts';
import { statusUpdate } from './status-update.ts';
import { wideTable } from './wide-table.ts';

/** Ours, its ablations, then the reference in the small schema and its ablations. */
export const CONTROLS: readonly Control[] = [
  product,
  noFloors,
  cteText,
  reference,
  orPredicate,
  orPredicateInOrder,
  inLimit,
  statusUpdate,
  wideTable,
];
