/** What a bearer token may allow: add jobs; claim and report; settle, steer and configure; look. */
export const SCOPES = ['enqueue', 'work', 'operate', 'read'] as const;
export type Scope = (typeof SCOPES)[number];
