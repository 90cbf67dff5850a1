import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SSMClient, paginateGetParametersByPath } from '@aws-sdk/client-ssm';

import { LeaseholdError } from '../../shared/errors.ts';
import { CLIENT_OPTIONS } from './client-options.ts';
import type { SecretsRef } from './secrets-ref.ts';

/**
 * Reads the secrets of a deployment: variable names and their values, as if they had been among the variables.
 *
 * @throws {LeaseholdError} `config_invalid` when they cannot be read or are not what they must be; it holds no value
 */
export async function readSecrets(ref: SecretsRef): Promise<Readonly<Record<string, string>>> {
  switch (ref.store) {
    case 'secretsmanager':
      return secretRecord(await unlessUnreadable(() => secretText(ref.id)));
    case 'ssm':
      return await unlessUnreadable(() => parametersUnder(ref.path));
  }
}

async function secretText(id: string): Promise<string | undefined> {
  const client = new SecretsManagerClient(CLIENT_OPTIONS);
  const { SecretString: text } = await client.send(new GetSecretValueCommand({ SecretId: id }));
  return text;
}

async function parametersUnder(path: string): Promise<Record<string, string>> {
  const client = new SSMClient(CLIENT_OPTIONS);
  const found: Record<string, string> = {};
  for await (const page of paginateGetParametersByPath(
    { client },
    { Path: path, WithDecryption: true },
  )) {
    for (const { Name: name, Value: value } of page.Parameters ?? []) {
      if (name !== undefined && value !== undefined) {
        found[name.slice(name.lastIndexOf('/') + 1)] = value;
      }
    }
  }
  return found;
}

function secretRecord(text: string | undefined): Record<string, string> {
  const record = parseRecord(text ?? '');
  if (record !== undefined) return record;
  throw new LeaseholdError(
    'config_invalid',
    'SECRETS names a secret whose value is not a JSON object of texts.',
  );
}

function parseRecord(text: string): Record<string, string> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')
    ? Object.fromEntries(entries)
    : undefined;
}

/** The name of what went wrong, such as AccessDeniedException; its text may name the account. */
async function unlessUnreadable<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.name : 'unknown';
    throw new LeaseholdError('config_invalid', `SECRETS cannot be read: ${reason}.`, {
      cause,
      problems: [{ path: 'SECRETS', message: `cannot be read: ${reason}` }],
    });
  }
}
