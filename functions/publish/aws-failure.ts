import type { PublishOutcome } from '../../shared/publish/publisher.ts';

/** What an AWS service calls a fault of the message itself, which the next try would not change. */
const REJECTIONS = new Set([
  'InvalidArgument',
  'InvalidParameter',
  'InvalidParameterException',
  'InvalidParameterValue',
  'InvalidParameterValueException',
  'MalformedDetail',
  'ValidationException',
]);
/** Faults of the setting: every event fails alike until somebody mends it. */
const AWAY = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'AuthorizationError',
  'AuthorizationErrorException',
  'CredentialsProviderError',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'KMSAccessDeniedException',
  'NotFound',
  'NotFoundException',
  'ResourceNotFoundException',
  'UnrecognizedClientException',
]);

/**
 * What a failure of an AWS service makes of an event, by the name that the service gives it. Texts of errors are left out:
 * they hold account numbers and the names of resources.
 *
 * @param service for the code, such as `sns`
 * @param remedy what to look at when the setting is wrong
 */
export function awsFailure(service: string, thrown: unknown, remedy: string): PublishOutcome {
  const name = thrown instanceof Error ? thrown.name : '';
  const answered = statusOf(thrown) !== undefined;
  return awsRefusal(service, answered || AWAY.has(name) ? name : undefined, remedy);
}

/** @param name the service's own word; undefined when it could not be reached */
export function awsRefusal(
  service: string,
  name: string | undefined,
  remedy: string,
): PublishOutcome {
  if (name === undefined) {
    const message = 'The service could not be reached.';
    return { outcome: 'failed', error: { code: `${service}_unreachable`, message }, away: true };
  }
  const word = /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(name) ? name : 'UnknownError';
  const code = `${service}_${snakeCase(word)}`;
  if (REJECTIONS.has(name)) {
    return { outcome: 'rejected', error: { code, message: `The service refused it: ${word}.` } };
  }
  return AWAY.has(name)
    ? { outcome: 'failed', error: { code, message: `${word}: ${remedy}` }, away: true }
    : { outcome: 'failed', error: { code, message: `The service answered ${word}.` } };
}

function statusOf(thrown: unknown): number | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('$metadata' in thrown)) return undefined;
  const { $metadata: metadata } = thrown;
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  return 'httpStatusCode' in metadata && typeof metadata.httpStatusCode === 'number'
    ? metadata.httpStatusCode
    : undefined;
}

/** `ThrottlingException` and `KMSAccessDenied` become `throttling_exception` and `kms_access_denied`. */
function snakeCase(word: string): string {
  return word
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();
}
