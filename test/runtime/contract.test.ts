/** The contract as the deployed bundle serves it. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

let deployment: Deployment;
let worker: DeployedWorker;

beforeAll(async () => {
  deployment = await createDeployment();
  worker = await deployment.start();
});

afterAll(() => deployment.close());

test('S2.9 the bundle serves the committed contract, and asks no database for it', async () => {
  const before = deployment.endpoint.requests;
  for (let time = 0; time < 2; time += 1) {
    const response = await worker.request('/openapi.json');
    const committed = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
    expect(await response.json()).toEqual(JSON.parse(committed));
    const page = await worker.request('/docs');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).toContain('Add a job');
  }
  expect(deployment.endpoint.requests).toBe(before);
});
