import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import type {
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/server';

import { MAX_PAGE_SIZE } from '../../shared/limits.ts';
import type { JsonValue } from '../../shared/json-value.ts';
import type { ApiRequest, CallApi } from './api-call.ts';
import { refusal } from './tool-answer.ts';

const JSON_TYPE = 'application/json';

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
export const RESOURCE_TEMPLATES: readonly ResourceTemplateType[] = [
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
 * @throws {ProtocolError} that there is no such resource, or why it is not shown
 * @example const { contents } = await readResource(callApi, 'leasehold://queues');
 */
export async function readResource(callApi: CallApi, uri: string): Promise<ReadResourceResult> {
  const request = requestFor(uri);
  if (request === undefined) throw new ResourceNotFoundError(uri, 'No resource has this URI.');
  const { status, body } = await callApi(request);
  if (status === 404) throw new ResourceNotFoundError(uri, textOf(body['detail']));
  if (status >= 400) {
    const { InternalError, InvalidRequest } = ProtocolErrorCode;
    const code = status < 500 ? InvalidRequest : InternalError;
    throw new ProtocolError(code, textOf(body['detail']), { uri, ...refusal(body) });
  }
  return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(body) }] };
}

function textOf(detail: JsonValue | undefined): string {
  return typeof detail === 'string' ? detail : 'It cannot be read.';
}
