import type { z } from 'zod';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { createApp } from '../../functions/app.ts';
import { ROUTES } from '../../functions/routes/index.ts';
import type { Route } from '../../functions/routes/route.ts';
import { COMPONENTS } from '../../shared/openapi/components.ts';
import { heedsIdempotencyKey } from '../../shared/openapi/operation.ts';
import type { Operation } from '../../shared/openapi/operation.ts';
import { OPERATIONS } from '../../shared/openapi/operations.ts';
import { createAppHarness } from '../routes/support/app-harness.ts';
import type { AppHarness } from '../routes/support/app-harness.ts';

/** Every schema that anything was parsed with since it was cleared. */
const parsedWith = vi.hoisted(() => new Set<unknown>());
vi.mock(import('../../shared/parse-with.ts'), async (original) => {
  const actual = await original();
  return {
    ...actual,
    parseWith: (schema, value) => {
      parsedWith.add(schema);
      return actual.parseWith(schema, value);
    },
  };
});

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

const nameOf = ({ method, path }: Pick<Operation, 'method' | 'path'>): string =>
  `${method.toUpperCase()} ${path}`;
const openapiPath = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');
const routeName = ({ method, path }: Route): string => `${method} ${openapiPath(path)}`;

describe('S2.9 routes and contract are the same', () => {
  test('each route is described, and nothing else is', () => {
    expect(OPERATIONS.map(nameOf).toSorted()).toEqual(ROUTES.map(routeName).toSorted());
  });

  const pairs = ROUTES.flatMap((route) => {
    const operation = OPERATIONS.find((one) => nameOf(one) === routeName(route));
    return operation === undefined ? [] : [{ name: routeName(route), route, operation }];
  });

  test.each(pairs)('$name says who may call it', ({ route, operation }) => {
    const { access } = operation;
    const described =
      access === 'public'
        ? { kind: 'public' }
        : typeof access === 'string'
          ? { kind: 'token', scope: access }
          : { kind: 'poke_or_token', scope: access.pokeOr };
    expect(route.access).toEqual(described);
  });

  test.each(pairs)('$name says whether it heeds an Idempotency-Key', ({ route, operation }) => {
    expect(heedsIdempotencyKey(operation)).toBe(
      route.method === 'POST' && route.idempotencyKey !== 'ignored',
    );
  });

  test.each(pairs.filter(({ route }) => route.database))(
    '$name says that the database may be away',
    ({ operation }) => {
      expect(operation.database).toBe(true);
    },
  );

  /** In one request that holds the example, the route parses with exactly the schemas of the document. */
  test.each(pairs)('$name parses with the schemas that are described', async ({ operation }) => {
    const { method, path, params = {}, query, body } = operation;
    const request = await app.request(
      method.toUpperCase(),
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => partOf(name)),
      body === undefined
        ? {}
        : { body: { ...body.example, ...('wait' in body.example ? { wait: 0 } : {}) } },
    );
    parsedWith.clear();
    await createApp(app.deps()).fetch(request);
    const described = new Set<z.ZodType>([
      ...Object.values(params),
      ...(query === undefined ? [] : [query]),
      ...(body === undefined ? [] : [COMPONENTS[body.schema]]),
    ]);
    expect([...described].filter((schema) => !parsedWith.has(schema))).toEqual([]);
    expect([...parsedWith].filter((schema) => !described.has(schema as z.ZodType))).toEqual([]);
  });
});

function partOf(name: string): string {
  return name === 'id' ? '0193a1b2-c3d4-7e5f-8a6b-0123456789ab' : 'some-name';
}
