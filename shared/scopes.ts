/** What a bearer token may allow: add jobs; claim and report; settle, steer and configure; look; take escalated jobs. */
export const SCOPES = ['enqueue', 'work', 'operate', 'read', 'human'] as const;
export type Scope = (typeof SCOPES)[number];
