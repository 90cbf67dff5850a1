import type { Hono } from 'hono';
import { handle, streamHandle } from 'hono/aws-lambda';
import type { APIGatewayProxyResult, LambdaEvent as HonoEvent } from 'hono/aws-lambda';

import { LeaseholdError } from '../../shared/errors.ts';
import { createApp } from '../app.ts';
import type { App } from '../app.ts';
import { problemResponse } from '../middleware/problem.ts';
import { notConfigured } from '../not-configured.ts';
import { webIds } from '../web-ports.ts';
import type { Container } from './container.ts';
import type { HttpEvent } from './event-shape.ts';
import { isRequest, plainHttpEvent } from './http-event.ts';
import { beginInvocation } from './invocation.ts';
import type { Invocation, LambdaContext } from './invocation.ts';

/**
 * Hono's adapter for Lambda is deprecated in favour of a package that is not published yet: everything of it that is used
 * is used here.
 */
export async function answerHttp(
  container: Container,
  event: HttpEvent,
  context: LambdaContext,
): Promise<APIGatewayProxyResult> {
  const { app, invocation } = await appFor(container, event, context);
  const result = await handle(honoOf(app))(adapterEvent(event));
  await invocation?.backgroundDone();
  return result;
}

/** The answer goes out while it is made; what is left to do comes after it, and the caller does not wait for that. */
export async function streamHttp(
  container: Container,
  event: HttpEvent,
  stream: unknown,
  context: LambdaContext,
): Promise<void> {
  const { app, invocation } = await appFor(container, event, context, true);
  const send = streamHandle(honoOf(app)) as unknown as StreamHandler;
  await send(adapterEvent(event), stream, context);
  await invocation?.backgroundDone();
}

/** What the runtime calls with a stream to write the answer to. */
export type StreamHandler = (
  event: unknown,
  stream: unknown,
  context: LambdaContext,
) => Promise<void>;

async function appFor(
  container: Container,
  event: HttpEvent,
  context: LambdaContext,
  streams = false,
): Promise<{ readonly app: App; readonly invocation?: Invocation }> {
  if (!isRequest(event)) return { app: answering(() => refused()) };
  try {
    const invocation = await beginInvocation(container, context, streams);
    return { app: createApp(invocation.deps()), invocation };
  } catch (error) {
    return { app: answering(() => notConfigured(error, container.log)) };
  }
}

function answering(answer: () => Response): App {
  return { fetch: async () => answer() };
}

function refused(): Response {
  return problemResponse(
    new LeaseholdError('invalid_request', 'No request has this method or host.'),
    webIds.uuidv7(),
  );
}

/** Of an app, the adapter calls `fetch` alone. */
function honoOf(app: App): Hono {
  return app as unknown as Hono;
}

/** What cannot be made a request is answered as such; the adapter gets one that can. */
function adapterEvent(event: HttpEvent): HonoEvent {
  const plain = isRequest(event)
    ? plainHttpEvent(event)
    : { ...event, rawPath: '/', body: null, requestContext: { http: { method: 'GET' } } };
  return plain as unknown as HonoEvent;
}
