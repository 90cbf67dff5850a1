import { DurableObject } from 'cloudflare:workers';

import { LeaseholdError } from '../../shared/errors.ts';
import type { KeptMetrics } from '../../shared/metrics/kept-metrics.ts';
import { answerMetrics } from '../metrics/remote-metrics.ts';
import type { MetricsAnswer } from '../metrics/remote-metrics.ts';
import { createStoredMetrics } from '../metrics/metrics-over.ts';
import { feedPorts } from '../worker-deps.ts';
import type { EventFeedStub, WorkerEnv } from '../worker-deps.ts';
import type { FeedHub } from './feed-hub.ts';
import { feedHubOver } from './hub-over.ts';
import { FEED_FULL_STATUS } from './remote-feed.ts';
import { streamAnswer } from './stream-answer.ts';
import { viewerOf } from './viewer-address.ts';

/**
 * The live feed of a Cloudflare deployment: one durable object that reads the event log for all viewers when the Worker tells
 * it that something was committed. An object that ends, for new code or another machine, cuts its streams; the viewers come
 * back with what they have. All it stores is the measures that were last read, for whoever asks while nothing changes.
 */
export class EventFeed extends DurableObject<WorkerEnv> implements EventFeedStub {
  #hub: FeedHub | undefined;
  #metrics: KeptMetrics | undefined;

  async changed(): Promise<void> {
    this.#hub?.changed();
    await this.#kept().changed();
  }

  async metrics(options: { readonly fresh: boolean }): Promise<MetricsAnswer> {
    return await answerMetrics(() => this.#kept().read(options));
  }

  /** A stream for the viewer that the Worker has admitted; nobody else can ask. */
  override async fetch(request: Request): Promise<Response> {
    // Settings are read where their faults are answered.
    this.#hub ??= feedHubOver(feedPorts(this.env));
    try {
      return streamAnswer(await this.#hub.open(viewerOf(new URL(request.url))));
    } catch (error) {
      if (!(error instanceof LeaseholdError) || error.code !== 'feed_full') throw error;
      return new Response(null, { status: FEED_FULL_STATUS });
    }
  }

  /** Settings are read where their faults are answered. */
  #kept(): KeptMetrics {
    this.#metrics ??= createStoredMetrics(feedPorts(this.env), this.ctx.storage);
    return this.#metrics;
  }
}
