/** How a queue's jobs reach who does them. */
export const DELIVERIES = ['handler', 'push', 'pull'] as const;
export type Delivery = (typeof DELIVERIES)[number];
