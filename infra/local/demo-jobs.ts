import { createRequire } from 'node:module';
import { uuidv7 } from 'uuidv7';

/** A job as `POST /v1/jobs/batch` takes it. */
export interface DemoJob {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  readonly payload: {
    readonly columns: readonly string[];
    readonly rows: readonly Readonly<Record<string, string | number | boolean | null>>[];
  };
}

interface WebhookExamples {
  readonly name: string;
  readonly examples: readonly unknown[];
}

/** Keeps a report well under the limit on payloads and results. */
const MAX_ROWS = 500;

/** One job for each real webhook payload of GitHub's: a report of all its fields. */
export function demoJobs(queue: string, type: string): DemoJob[] {
  const load = createRequire(import.meta.url);
  const webhooks = load('@octokit/webhooks-examples') as readonly WebhookExamples[];
  return webhooks.flatMap(({ name, examples }) =>
    examples.map((payload) => ({
      id: uuidv7(),
      queue,
      type,
      payload: {
        columns: ['event', 'field', 'value'],
        rows: fieldsOf(payload)
          .slice(0, MAX_ROWS)
          .map(([field, value]) => ({ event: name, field, value })),
      },
    })),
  );
}

type Leaf = string | number | boolean | null;

/** Every leaf of a JSON value with its path, `repository.owner.login`. */
function fieldsOf(value: unknown, path = ''): (readonly [field: string, value: Leaf])[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) =>
      fieldsOf(inner, path === '' ? key : `${path}.${key}`),
    );
  }
  return isLeaf(value) ? [[path, value]] : [];
}

function isLeaf(value: unknown): value is Leaf {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
