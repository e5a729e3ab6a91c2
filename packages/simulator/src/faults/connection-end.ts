/**
 * How a connection ends: one of the behaviour's ends, drawn for it, and the request at which it
 * comes. The end also affects the last requests before it, so that every run has requests at risk.
 */

import { ErrorCode } from '../../../http2/src/error.ts';
import type { ServerConnection } from '../../../http2/src/server/server-connection.ts';
import type { Behaviour, Ends } from './behaviour.ts';
import { draw } from './random.ts';

export type EndKind = keyof Ends;

/** The treatment of a request. An ignored one is never processed, and reaches no device. */
type Treatment = 'served' | 'unanswered' | 'ignored';

/**
 * The number of requests that share the connection's end, with the one at which it comes.
 * @limit requests that share a connection's end → not looked at
 */
export const TAIL_REQUESTS = 5;

const TAIL_TREATMENTS: Readonly<Record<EndKind, Treatment>> = {
  goAway: 'served',
  goAwayTwice: 'served',
  goAwayFalling: 'ignored',
  goAwayUnprocessed: 'ignored',
  goAwayCalm: 'ignored',
  goAwayInternal: 'ignored',
  cut: 'unanswered',
  silence: 'unanswered',
};

/** The connection on which an end is played. */
export interface EndStage {
  readonly http2: ServerConnection;
  readonly goAwayText: string;
  /** Calls back when the client has read everything sent to it before. */
  readonly whenRead: (act: () => void) => void;
  /** Closes the socket when the client has read everything sent to it before. */
  readonly cut: () => void;
  readonly freeze: () => void;
}

interface DrawnEnd {
  readonly kind: EndKind;
  /** It comes with this request of the connection, counted from 1. */
  readonly requests: number;
}

/**
 * The end of the connection with this number; null: none. The same seed and number give the same
 * end.
 */
export function drawEnd({ ends, seed }: Behaviour, connectionNumber: number): DrawnEnd | null {
  const kinds = (Object.keys(ends) as EndKind[]).filter((kind) => ends[kind] > 0);
  const kind = kinds[Math.floor(draw(seed, 'connection end', connectionNumber) * kinds.length)];
  return kind === undefined ? null : { kind, requests: ends[kind] };
}

export class ConnectionEnd {
  readonly drawn: DrawnEnd;
  readonly #stage: EndStage;
  /** The first stream that shares the connection's end. */
  #tailStreamId = Number.POSITIVE_INFINITY;
  /** The stream at which the end comes. */
  #lastStreamId = Number.POSITIVE_INFINITY;
  #hasCome = false;

  constructor(drawn: DrawnEnd, stage: EndStage) {
    this.drawn = drawn;
    this.#stage = stage;
  }

  /** A stream has begun; `count` with this one on the connection. */
  opened(streamId: number, count: number): void {
    const { kind, requests } = this.drawn;
    if (count > requests - TAIL_REQUESTS) {
      this.#tailStreamId = Math.min(this.#tailStreamId, streamId);
    }
    if (count < requests || this.#hasCome) return;
    this.#lastStreamId = Math.min(this.#lastStreamId, streamId);
    // These ends name the last stream, so they come before the next one may begin.
    if (TAIL_TREATMENTS[kind] === 'served') this.#come();
  }

  /** A request is complete. */
  requested(streamId: number): Treatment {
    if (streamId < this.#tailStreamId) return 'served';
    if (streamId >= this.#lastStreamId && !this.#hasCome) this.#come();
    const treatment = TAIL_TREATMENTS[this.drawn.kind];
    // Later requests are ignored, so that no more than TAIL_REQUESTS stay unanswered.
    return treatment === 'unanswered' && streamId > this.#lastStreamId ? 'ignored' : treatment;
  }

  #come(): void {
    this.#hasCome = true;
    const { http2, goAwayText, whenRead, cut, freeze } = this.#stage;
    const lastStreamId = this.#lastStreamId;
    const beforeTail = Math.max(0, this.#tailStreamId - 2);
    switch (this.drawn.kind) {
      case 'goAway':
        http2.sendGoAway(lastStreamId, ErrorCode.NO_ERROR, goAwayText);
        return;
      case 'goAwayTwice':
        http2.announceGoAway(goAwayText);
        whenRead(() => http2.sendGoAway(http2.highestStreamId, ErrorCode.NO_ERROR, goAwayText));
        return;
      case 'goAwayFalling':
        http2.sendGoAway(lastStreamId, ErrorCode.NO_ERROR, goAwayText);
        whenRead(() => http2.sendGoAway(beforeTail, ErrorCode.NO_ERROR, goAwayText, 'ignored'));
        return;
      case 'goAwayUnprocessed':
        http2.sendGoAway(beforeTail, ErrorCode.NO_ERROR, goAwayText, 'ignored');
        return;
      case 'goAwayCalm':
        http2.abandon(beforeTail, ErrorCode.ENHANCE_YOUR_CALM, 'too_many_pings');
        return;
      case 'goAwayInternal':
        http2.abandon(beforeTail, ErrorCode.INTERNAL_ERROR, '');
        return;
      case 'cut':
        cut();
        return;
      case 'silence':
        freeze();
        return;
    }
  }
}
