import { DurableObject } from 'cloudflare:workers';

import { feedPorts } from '../worker-deps.ts';
import type { EventFeedStub, WorkerEnv } from '../worker-deps.ts';
import type { FeedHub } from './feed-hub.ts';
import { feedHubOver } from './hub-over.ts';
import { streamAnswer } from './stream-answer.ts';
import { viewerOf } from './viewer-address.ts';

/**
 * The live feed of a Cloudflare deployment: one durable object that reads the event log for all viewers when the Worker tells
 * it that something was committed. It stores nothing. An object that ends, for new code or another machine, cuts its streams;
 * the viewers come back with what they have.
 */
export class EventFeed extends DurableObject<WorkerEnv> implements EventFeedStub {
  #hub: FeedHub | undefined;

  async changed(): Promise<void> {
    this.#hub?.changed();
  }

  /** A stream for the viewer that the Worker has admitted; nobody else can ask. */
  override async fetch(request: Request): Promise<Response> {
    // Settings are read where their faults are answered.
    this.#hub ??= feedHubOver(feedPorts(this.env));
    return streamAnswer(await this.#hub.open(viewerOf(new URL(request.url))));
  }
}
