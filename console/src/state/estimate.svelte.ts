/** To how many, and how large: asked for while somebody types, the newest question alone. */

import type { AnswerOf } from '../../../packages/client/src/client.ts';
import type { AudienceRequest, PushRequest } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from '../api/client.ts';
import type { Fault } from '../api/fault.ts';
import { faultOf, isAbort } from '../api/fault.ts';

export type Estimate = AnswerOf<'POST', '/push-api/v3/{client}/notifications/estimate'>['body'];
export type Preview = AnswerOf<'POST', '/push-api/v3/{client}/notifications/preview'>['body'];

/** The answer to the newest question. What was answered before stays until then. */
export class Asked<Question, Answer> {
  value = $state.raw<Answer | null>(null);
  fault = $state.raw<Fault | null>(null);
  isAsking = $state(false);
  readonly #pauseMs: number;
  readonly #ask: (question: Question, signal: AbortSignal) => Promise<Answer>;

  constructor(pauseMs: number, ask: (question: Question, signal: AbortSignal) => Promise<Answer>) {
    this.#pauseMs = pauseMs;
    this.#ask = ask;
  }

  /** Asks after a moment without typing; returns a function that calls it off. */
  about(question: Question | null): () => void {
    const under = new AbortController();
    if (question === null) {
      this.value = null;
      this.fault = null;
      this.isAsking = false;
      return () => {};
    }
    this.isAsking = true;
    const timer = setTimeout(() => void this.#now(question, under.signal), this.#pauseMs);
    return () => {
      clearTimeout(timer);
      under.abort();
    };
  }

  async #now(question: Question, signal: AbortSignal): Promise<void> {
    try {
      const value = await this.#ask(question, signal);
      if (signal.aborted) return;
      this.value = value;
      this.fault = null;
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      this.value = null;
      this.fault = faultOf(error);
    }
    this.isAsking = false;
  }
}

/** A count is there within the blink of an eye. */
const ESTIMATE_PAUSE_MS = 250;
/** A preview counts exactly, which may take a second of the database. */
const PREVIEW_PAUSE_MS = 900;

export const estimates = (api: ClientApi): Asked<AudienceRequest, Estimate> =>
  new Asked(ESTIMATE_PAUSE_MS, async (audience, signal) => {
    const { body } = await api.request('POST', '/push-api/v3/{client}/notifications/estimate', {
      body: { ...audience, approximate: true },
      signal,
    });
    return body;
  });

export const previews = (api: ClientApi): Asked<PushRequest, Preview> =>
  new Asked(PREVIEW_PAUSE_MS, async (push, signal) => {
    const { body } = await api.request('POST', '/push-api/v3/{client}/notifications/preview', {
      body: push,
      signal,
    });
    return body;
  });
