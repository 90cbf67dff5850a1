/** Events of payload format 2.0 as AWS sends them, and what their answers mean to a client. */

export interface HttpCall {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

const HOST = 'abcdefghijklmnop.lambda-url.eu-west-1.on.aws';
/** Bodies of these types arrive as text, all others in base64. */
const TEXT = /^(?:text\/|application\/(?:json|javascript|xml))/;

/** What a function URL invokes its function with. */
export function functionUrlEvent(call: HttpCall): Readonly<Record<string, unknown>> {
  const [rawPath = '', rawQueryString = ''] = call.path.split('?');
  const { cookie, ...headers } = lowerCase(call.headers ?? {});
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    ...(cookie === undefined ? {} : { cookies: cookie.split('; ') }),
    headers: {
      host: HOST,
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
      'x-amzn-trace-id': 'Root=1-5759e988-bd862e3fe1be46a994272793',
      ...headers,
    },
    ...(rawQueryString === ''
      ? {}
      : { queryStringParameters: Object.fromEntries(new URLSearchParams(rawQueryString)) }),
    requestContext: {
      accountId: 'anonymous',
      apiId: 'abcdefghijklmnop',
      domainName: HOST,
      domainPrefix: 'abcdefghijklmnop',
      http: {
        method: call.method,
        path: rawPath,
        protocol: 'HTTP/1.1',
        sourceIp: '203.0.113.7',
        userAgent: headers['user-agent'] ?? 'undici',
      },
      requestId: '0b8ad7d1-4a2f-4a5e-9d1c-3f6f2b7a9c11',
      routeKey: '$default',
      stage: '$default',
      time: '01/Dec/2026:12:00:00 +0000',
      timeEpoch: 1_796_126_400_000,
    },
    ...bodyOf(call.body, headers['content-type']),
  };
}

/** What an HTTP API of API Gateway invokes its function with: the stage before the path, and the path decoded. */
export function apiGatewayEvent(call: HttpCall, stage: string): Readonly<Record<string, unknown>> {
  const event = functionUrlEvent(call);
  const [path = ''] = call.path.split('?');
  const decoded = decodeURIComponent(path);
  const rawPath = stage === '$default' ? decoded : `/${stage}${decoded}`;
  const context = event['requestContext'] as Record<string, unknown>;
  return {
    ...event,
    routeKey: 'ANY /{proxy+}',
    rawPath,
    pathParameters: { proxy: decoded.slice(1) },
    requestContext: {
      ...context,
      accountId: '123456789012',
      domainName: 'abcdef1234.execute-api.eu-west-1.amazonaws.com',
      routeKey: 'ANY /{proxy+}',
      stage,
      http: { ...(context['http'] as object), path: rawPath },
    },
  };
}

interface BufferedResult {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** The answer that a client gets for what a buffered handler returned. */
export function bufferedResponse(result: unknown): Response {
  const buffered = result as BufferedResult;
  const { body = '', isBase64Encoded } = buffered;
  const bytes = isBase64Encoded === true ? Buffer.from(body, 'base64') : Buffer.from(body);
  return responseOf(buffered, bytes);
}

/** The answer that a client gets for what a streaming handler wrote: JSON, eight zero bytes, the body. */
export function streamedResponse(written: Buffer): Response {
  const end = written.indexOf(Buffer.alloc(8));
  if (end < 0) throw new Error('There is no prelude.');
  const prelude = JSON.parse(written.subarray(0, end).toString()) as BufferedResult;
  return responseOf(prelude, written.subarray(end + 8));
}

function responseOf({ statusCode, headers, cookies }: BufferedResult, bytes: Buffer): Response {
  const all = new Headers(headers);
  for (const cookie of cookies ?? []) all.append('set-cookie', cookie);
  const empty = statusCode === 204 || statusCode === 304;
  return new Response(empty ? null : Uint8Array.from(bytes), { status: statusCode, headers: all });
}

function bodyOf(
  body: string | Uint8Array | undefined,
  type: string | undefined,
): { body?: string; isBase64Encoded: boolean } {
  if (body === undefined) return { isBase64Encoded: false };
  if (typeof body === 'string' && TEXT.test(type ?? '')) return { body, isBase64Encoded: false };
  return { body: Buffer.from(body).toString('base64'), isBase64Encoded: true };
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
