import { describe } from 'vitest';
import { NO_NATS_SERVER, natsServerBinary } from '../../../infra/local/nats-server.ts';

/** Tests on a real broker; where this machine has none they are left out, and say why. */
export function withBroker(name: string, tests: () => void): void {
  const found = natsServerBinary() !== undefined;
  describe.runIf(found)(`${name}${found ? '' : ` (left out: ${NO_NATS_SERVER})`}`, () => {
    tests();
  });
}
