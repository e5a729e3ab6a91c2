/**
 * Predicts the ends of all requests of a connection whose server keeps to RFC 9113, and whether it
 * still takes any.
 */

import { Id } from '../frames.ts';
import type { ExpectedEnd } from './answer-model.ts';
import { AnswerModel } from './answer-model.ts';
import type { Effect } from './lawful-server.ts';

export class ConnectionModel {
  isClosed = false;
  isDraining = false;
  /** The octets that the client may send on all streams, from the first to the last. */
  contentOctetsMax = 65_535;
  /** The lowest that a GOAWAY has said. */
  lastStreamId = Number.POSITIVE_INFINITY;
  readonly #bodyOctetsMax: number;
  readonly #ownStreamsMax: number;
  readonly #answers = new Map<number, AnswerModel>();
  #isReady = false;
  #streamsMax = Number.POSITIVE_INFINITY;

  constructor(ownStreamsMax: number, bodyOctetsMax: number) {
    this.#ownStreamsMax = ownStreamsMax;
    this.#bodyOctetsMax = bodyOctetsMax;
  }

  /** The capacity while the socket keeps up. `contentOctets`: sent by the client until now. */
  capacity(contentOctets: number): number {
    if (!this.#isReady || this.isDraining || this.isClosed) return 0;
    if (contentOctets >= this.contentOctetsMax) return 0;
    return Math.max(0, Math.min(this.#ownStreamsMax, this.#streamsMax) - this.openIds.length);
  }

  get openIds(): readonly number[] {
    return [...this.#answers].filter(([, { end }]) => end === null).map(([id]) => id);
  }

  endOf(streamId: number): ExpectedEnd | null {
    return this.#answers.get(streamId)?.end ?? null;
  }

  sent(streamId: number): void {
    this.#answers.set(streamId, new AnswerModel(this.#bodyOctetsMax));
  }

  cancelled(streamId: number): void {
    this.#answers.delete(streamId);
    this.closeIfDrained();
  }

  /** Something has come that is whole now. */
  receive(effect: Effect): void {
    if (this.isClosed) return;
    switch (effect.kind) {
      case 'act':
        this.#answers.get(effect.streamId)?.receive(effect.act);
        return;
      case 'settings':
        this.#isReady = true;
        for (const [identifier, value] of effect.parameters) {
          if (identifier === Id.MAX_CONCURRENT_STREAMS) this.#streamsMax = value;
        }
        return;
      case 'go-away':
        this.isDraining = true;
        this.lastStreamId = effect.lastStreamId;
        for (const [id, answer] of this.#answers) {
          if (id > effect.lastStreamId) answer.fail(true);
        }
        return;
      case 'window':
        this.contentOctetsMax += effect.increment;
        return;
      case 'none':
        return;
    }
  }

  /** To be called at the end of each chunk. */
  closeIfDrained(): void {
    if (this.isDraining && this.openIds.length === 0) this.isClosed = true;
  }
}
