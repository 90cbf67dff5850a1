/** The deployed Worker publishes to NATS over a WebSocket, which is what Workers can open. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBroker, stored, type Broker } from '../broker/support/broker.ts';
import { withBroker } from '../broker/support/with-broker.ts';
import { append, expireShards, makeHoldsDue, pendingCount } from '../outbox/support/outbox.ts';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

withBroker('the outbox of a Worker', () => {
  let broker: Broker;
  let deployment: Deployment;
  let worker: DeployedWorker;
  beforeAll(async () => {
    broker = await startBroker(['authorization { token: "hush" }'], 'hush');
    deployment = await createDeployment();
    worker = await deployment.start({
      OUTBOX_NATS_URL: broker.server.webSocketUrl,
      OUTBOX_NATS_TOKEN: 'hush',
      OUTBOX_NATS_PREFIX: 'shop',
      PUSH_ALLOW_HTTP: 'on',
    });
    const manager = await broker.manage();
    await manager.streams.add({ name: 'SHOP', subjects: ['shop.>'] });
  });
  afterAll(async () => {
    await deployment.close();
    await broker.close();
  });

  test('S4.3 a pass in workerd publishes over a WebSocket of its own, and marks', async () => {
    const { sql, pool } = deployment.database;
    for (let round = 0; round < 3; round += 1) {
      for (const aggregateId of ['1', '2', '3']) {
        await append(sql, { id: uuidv7(), aggregateId, payload: { round } });
      }
      await worker.runCron();
    }
    expect(await pendingCount(pool)).toBe(0);
    const messages = await stored(await broker.manage(), 'SHOP');
    expect(messages).toHaveLength(9);
    for (const aggregateId of ['1', '2', '3']) {
      const of = messages.filter(({ headers }) => headers['ce-aggregateid'] === aggregateId);
      expect(of.map(({ headers }) => headers['ce-aggregateversion'])).toEqual(['1', '2', '3']);
      expect(of.map(({ text }) => text)).toEqual(
        [0, 1, 2].map((round) => JSON.stringify({ round }).replace(':', ': ')),
      );
    }
  });

  test('S4.3 a broker that is away leaves the events where they are; back, they go out', async () => {
    const { sql, pool } = deployment.database;
    await broker.server.kill();
    await append(sql, { id: uuidv7(), aggregateId: '1' });
    await worker.runCron();
    expect(await pendingCount(pool)).toBe(1);
    await broker.server.restart();
    await makeHoldsDue(pool);
    await expireShards(pool);
    await worker.runCron();
    expect(await pendingCount(pool)).toBe(0);
    expect(worker.logs.join('\n')).not.toContain('hush');
  });
});
