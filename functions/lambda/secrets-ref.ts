/** Where a deployment keeps its secrets. */
export type SecretsRef =
  /** One secret of Secrets Manager whose value is a JSON object: variable names to values. */
  | { readonly store: 'secretsmanager'; readonly id: string }
  /** Parameters of Systems Manager right under a path, each named after its variable. */
  | { readonly store: 'ssm'; readonly path: string };

/**
 * @returns undefined when the text is no reference
 * @example parseSecretsRef('ssm:/leasehold/production') // { store: 'ssm', path: '/leasehold/production' }
 */
export function parseSecretsRef(text: string): SecretsRef | undefined {
  const [, store, rest = ''] = /^(secretsmanager|ssm):(\S{1,512})$/.exec(text) ?? [];
  if (store === 'secretsmanager') return { store, id: rest };
  return store === 'ssm' && rest.startsWith('/') ? { store, path: rest } : undefined;
}
