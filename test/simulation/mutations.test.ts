import { describe, expect, inject, test } from 'vitest';
import { hunt, SEEDS_AFTER_SHOWN } from './hunt.ts';
import { MUTATIONS } from './mutations.ts';

/** One a rule: `npm run prove -- mutations` breaks the other routines as well. */
const OF_EACH_RULE = [
  ...new Map(MUTATIONS.toReversed().map((mutation) => [mutation.rule, mutation])).values(),
];

describe('the history of a simulated run shows a broken routine', () => {
  test.each(OF_EACH_RULE)(
    '$rule: $name',
    async (mutation) => {
      const { host, port, user, password, template } = inject('cluster');
      const where = { server: `postgres://${user}:${password}@${host}:${port}`, template };
      const seeds = { from: mutation.shownBy, count: SEEDS_AFTER_SHOWN };
      expect(await hunt(mutation, where, seeds)).toBeDefined();
    },
    300_000,
  );
});
