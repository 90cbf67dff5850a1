import { expect, inject, test } from 'vitest';
import { hunt } from './hunt.ts';
import { MUTATIONS } from './mutations.ts';
const only = process.env['ONLY'];
test.each(MUTATIONS.filter(({ name }) => only === undefined || name.includes(only)))(
  '$name',
  async (mutation) => {
    const { host, port, user, password, template } = inject('cluster');
    const at = performance.now();
    const found = await hunt(
      mutation,
      { server: `postgres://${user}:${password}@${host}:${port}`, template },
      { from: 1, count: Number(process.env['SEEDS'] ?? 12) },
    );
    console.log(mutation.name, '->', Math.round(performance.now() - at), JSON.stringify(found));
    expect(1).toBe(1);
  },
  300_000,
);
