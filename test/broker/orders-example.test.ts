/** `npm run example:orders`, as the page tells people to run it: every part killed once, every order with its stock once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { withBroker } from './support/with-broker.ts';

const MAIN = fileURLToPath(new URL('../../docs/examples/orders/main.ts', import.meta.url));
const TIMEOUT_MS = 180_000;

withBroker('the example', () => {
  test(
    'S4.3 S4.5 orders, relay, broker, inventory and database are killed, and the stock is right',
    async () => {
      const example = spawn(
        process.execPath,
        ['--experimental-strip-types', '--no-warnings', MAIN, '--orders', '40'],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const [output, [code]] = await Promise.all([
        text(example.stdout),
        once(example, 'exit') as Promise<[number | null]>,
      ]);
      expect(output).toContain('every order has its stock, once');
      for (const part of ['relay', 'inventory', 'broker', 'orders', 'database']) {
        expect(output).toContain(`>>> killing ${part}`);
      }
      expect(output).toMatch(/40 orders, 60 events, 60 published/);
      expect(code).toBe(0);
    },
    TIMEOUT_MS,
  );
});
