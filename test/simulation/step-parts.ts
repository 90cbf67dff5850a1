import type { ModelJob } from './model.ts';

/** One of the jobs that a step can happen to. */
export function chosen(jobs: readonly ModelJob[], index: number): ModelJob | undefined {
  return jobs.length === 0 ? undefined : jobs[index % jobs.length];
}

export function same(actual: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`the database says ${a}, the model ${b}`);
}
