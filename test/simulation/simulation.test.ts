import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { prepareGround, type Ground } from './world/ground.ts';
import { runSeed } from './world/run-seed.ts';

const SEEDS = Number(process.env['SEEDS'] ?? 5);
const FROM = Number(process.env['FROM'] ?? 1);

let ground: Ground;
beforeAll(async () => {
  const { host, port, user, password, template } = inject('cluster');
  ground = await prepareGround({
    server: `postgres://${user}:${password}@${host}:${port}`,
    template,
  });
});
afterAll(() => ground.drop());

describe('the simulation', () => {
  test('x', async () => {
    for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
      const at = performance.now();
      const result = await runSeed(ground, seed);
      console.log(
        seed,
        Math.round(performance.now() - at),
        JSON.stringify(result.tally),
        JSON.stringify({ ...result.report, faults: undefined }),
      );
      for (const { rule, text } of result.faults) console.log('   ', rule, text);
      if (process.env['TRACE']) console.log(result.log.join('\n'));
    }
    expect(1).toBe(1);
  }, 600_000);
});
