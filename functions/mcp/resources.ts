import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type {
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from '@modelcontextprotocol/sdk/types.js';

import { MAX_PAGE_SIZE } from '../../shared/limits.ts';
import type { JsonValue } from '../../shared/json-value.ts';
import type { ApiRequest, CallApi } from './api-call.ts';
import { refusal } from './tool-answer.ts';

const JSON_TYPE = 'application/json';
/** Of the protocol; the SDK has no name for it. */
const RESOURCE_NOT_FOUND = -32_002;

/** All that stand under a name of their own. */
export const RESOURCES: readonly Resource[] = [
  {
    uri: 'leasehold://queues',
    name: 'queues',
    title: 'Queues',
    description: 'The queues that your token is for, with their settings.',
    mimeType: JSON_TYPE,
  },
];

/** All that are found by the id of a job. */
export const RESOURCE_TEMPLATES: readonly ResourceTemplate[] = [
  {
    uriTemplate: 'leasehold://jobs/{job_id}',
    name: 'job',
    title: 'One job',
    description:
      'Everything about one job: payload, state, holder, progress, attempts with errors, result.',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'leasehold://jobs/{job_id}/history',
    name: 'job-history',
    title: 'History of one job',
    description: 'The first events of its log: what happened, when, by whom.',
    mimeType: JSON_TYPE,
  },
];

/** What a URI stands for; undefined: nothing. */
function requestFor(uri: string): ApiRequest | undefined {
  if (uri === 'leasehold://queues') return { method: 'GET', path: '/v1/queues' };
  const [, jobId, history] = /^leasehold:\/\/jobs\/([0-9a-f-]{36})(\/history)?$/i.exec(uri) ?? [];
  if (jobId === undefined) return undefined;
  return history === undefined
    ? { method: 'GET', path: `/v1/jobs/${jobId}` }
    : { method: 'GET', path: `/v1/jobs/${jobId}/events`, query: { limit: MAX_PAGE_SIZE } };
}

/**
 * @throws {McpError} that there is no such resource, or why it is not shown
 * @example const { contents } = await readResource(callApi, 'leasehold://queues');
 */
export async function readResource(callApi: CallApi, uri: string): Promise<ReadResourceResult> {
  const request = requestFor(uri);
  if (request === undefined) {
    throw new McpError(RESOURCE_NOT_FOUND, 'No resource has this URI.', { uri });
  }
  const { status, body } = await callApi(request);
  if (status >= 400) {
    const code =
      status === 404
        ? RESOURCE_NOT_FOUND
        : status < 500
          ? ErrorCode.InvalidRequest
          : ErrorCode.InternalError;
    throw new McpError(code, textOf(body['detail']), { uri, ...refusal(body) });
  }
  return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(body) }] };
}

function textOf(detail: JsonValue | undefined): string {
  return typeof detail === 'string' ? detail : 'It cannot be read.';
}
