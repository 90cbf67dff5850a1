import { describe, expect, inject, test } from 'vitest';
import { hunt } from './hunt.ts';
import { MUTATIONS } from './mutations.ts';

/** Postgres decides a few things by itself, so that a seed may miss what it showed before. */
const SEEDS_TRIED = 15;

describe('the history of a simulated run shows a broken routine', () => {
  test.each(MUTATIONS)(
    '$rule: $name',
    async (mutation) => {
      const { host, port, user, password, template } = inject('cluster');
      const where = { server: `postgres://${user}:${password}@${host}:${port}`, template };
      const seeds = { from: mutation.shownBy, count: SEEDS_TRIED };
      expect(await hunt(mutation, where, seeds)).toBeDefined();
    },
    300_000,
  );
});
