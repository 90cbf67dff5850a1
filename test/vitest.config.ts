import { fileURLToPath } from 'node:url';
import { defineConfig, type TestUserConfig } from 'vitest/config';
import { poolerBinary } from './support/pooler.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const RUNTIME_TESTS = [
  'test/runtime/**/*.test.ts',
  'test/browser/**/*.test.ts',
  'test/behaviour/workerd.test.ts',
];
/** What the product does with the database, without the tests of the tools around it. */
const DATABASE_TESTS = ['sql', 'races', 'routes', 'outbox'].map(
  (room) => `test/${room}/**/*.test.ts`,
);
/** Of those, what a pooler cannot change, or what takes long and says nothing more the second time. */
const POOLER_MAKES_NO_DIFFERENCE = [
  'test/**/*plans.test.ts',
  'test/sql/claim-pages.test.ts',
  'test/sql/job-cost.test.ts',
  'test/routes/fuzz.test.ts',
  'test/routes/rotation.test.ts',
];

const everywhere: TestUserConfig = {
  testTimeout: 30_000,
  hookTimeout: 60_000,
  restoreMocks: true,
};

export default defineConfig({
  root,
  test: {
    // Once a run, for all projects: Postgres with a migrated template database.
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Most tests wait for Postgres or for workerd, not for their own processor.
    maxWorkers: 2,
    teardownTimeout: 30_000,
    projects: [
      {
        root,
        test: {
          ...everywhere,
          name: 'process',
          include: ['test/**/*.test.ts'],
          exclude: [...RUNTIME_TESTS, '**/node_modules/**'],
        },
      },
      {
        root,
        test: {
          ...everywhere,
          name: 'workerd',
          include: RUNTIME_TESTS,
          // Builds the Worker, once a run and only when one of these tests runs.
          globalSetup: ['test/support/build-setup.ts'],
        },
      },
      ...(poolerBinary() === undefined
        ? []
        : [
            {
              root,
              test: {
                ...everywhere,
                // Case L1: the same tests behind PgBouncer in transaction mode, two server connections.
                name: 'pooled',
                include: DATABASE_TESTS,
                exclude: POOLER_MAKES_NO_DIFFERENCE,
                provide: { pooled: true },
              },
            },
          ]),
    ],
  },
});
