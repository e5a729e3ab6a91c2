/** A notification as it goes out: listened to while it runs, asked for again when the stream breaks. */

import { untrack } from 'svelte';
import type { Notification } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from '../api/client.ts';
import type { Fault } from '../api/fault.ts';
import { faultOf, isAbort } from '../api/fault.ts';
import type { Sample } from '../words/live.ts';
import { withSample } from '../words/live.ts';
import { isFinal } from '../words/outcomes.ts';

/** Nothing comes while nothing changes: the rate falls all the same. */
const SAMPLE_MS = 1_000;
/** After a stream has broken. */
const RETRY_MS = 3_000;
const NOT_FOUND = 404;

export class Watched {
  value = $state.raw<Notification | null>(null);
  fault = $state.raw<Fault | null>(null);
  /** The stream broke; another is on its way. */
  isBroken = $state(false);
  samples = $state.raw<readonly Sample[]>([]);
  readonly #api: ClientApi;
  readonly #id: string;

  constructor(api: ClientApi, id: string) {
    this.#api = api;
    this.#id = id;
  }

  /** Listens until it has ended; returns what stops it. */
  start(): () => void {
    const under = new AbortController();
    untrack(() => void this.#listen(under.signal));
    const timer = setInterval(() => untrack(() => this.#sample()), SAMPLE_MS);
    return () => {
      clearInterval(timer);
      under.abort();
    };
  }

  /** After a deed: what it changed is shown at once. */
  async look(): Promise<void> {
    const { body } = await this.#api.request('GET', '/push-api/v3/{client}/notifications/{id}', {
      path: { id: this.#id },
    });
    this.#show(body);
  }

  async #listen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const hasEnded = await this.#api.listen(
          this.#id,
          (data) => this.#show(data as Notification),
          signal,
        );
        if (hasEnded) return;
      } catch (error) {
        if (signal.aborted || isAbort(error)) return;
        const fault = faultOf(error);
        if (this.value === null) this.fault = fault;
        if (fault.status === NOT_FOUND) return;
      }
      this.isBroken = true;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #sample(): void {
    const { value, samples } = this;
    const isSending = value?.firstSendAt !== undefined && !isFinal(value.state);
    if (!isSending || this.isBroken) return;
    const atMs = Date.now();
    if (atMs - (samples.at(-1)?.atMs ?? 0) < SAMPLE_MS) return;
    this.samples = withSample(samples, value, atMs);
  }

  #show(notification: Notification): void {
    this.value = notification;
    this.fault = null;
    this.isBroken = false;
    this.samples = withSample(this.samples, notification, Date.now());
  }
}
