/**
 * `permanent`: no further attempt can help, dead at once. `transient`: a time-out, 429, 5xx: the full budget of attempts.
 * `unknown`: nobody has classed it: a small budget of its own.
 */
export const FAILURE_CLASSES = ['permanent', 'transient', 'unknown'] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];
