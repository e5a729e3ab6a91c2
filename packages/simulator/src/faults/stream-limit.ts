/**
 * The limit of a connection's streams, as Apple changes it
 * (internals/providers.md, "APNs: connections").
 *
 * ```
 *   first ───a valid credential───► full ───a rejection, if the behaviour says so───► fallen
 *                                     ▲                                                 │
 *                                     └────────────────────a success────────────────────┘
 * ```
 */

import type { ServerConnection } from '../../../http2/src/server/server-connection.ts';

export interface Limits {
  readonly atStart: number;
  readonly full: number;
}

export class StreamLimit {
  readonly #http2: ServerConnection;
  #state: 'first' | 'full' | 'fallen';
  #full: number;
  #falls = false;

  /** The client knows `atStart` already. */
  constructor(http2: ServerConnection, { atStart, full }: Limits) {
    this.#http2 = http2;
    this.#state = atStart === full ? 'full' : 'first';
    this.#full = full;
  }

  /** No answer can change the limit, so `judged` need not be called. */
  get isSteady(): boolean {
    return this.#state === 'full' && !this.#falls;
  }

  /** Sets the limits from now on, and whether rejections lower them. */
  change({ atStart, full }: Limits, falls: boolean): void {
    const isNew = full !== this.#full;
    this.#falls = falls;
    this.#full = full;
    if (this.#state === 'first' && atStart === full) this.#rise();
    else if (this.#state === 'full' && isNew) this.#http2.allowStreams(full);
  }

  /** A request was answered with this status; null: it gets no answer. */
  judged(status: number | null, isTrusted: boolean): void {
    switch (this.#state) {
      case 'first':
        if (isTrusted) this.#rise();
        return;
      case 'full':
        if (this.#falls && isRejection(status)) this.#fall();
        return;
      case 'fallen':
        if (status !== null && status < 300) this.#rise();
        return;
    }
  }

  #rise(): void {
    this.#state = 'full';
    this.#http2.allowStreams(this.#full);
  }

  #fall(): void {
    this.#state = 'fallen';
    this.#http2.allowStreamsOnly(1);
  }
}

/**
 * Apple does not count a dead token as the sender's fault (internals/providers.md, "APNs:
 * connections"). We assume the same for 429, a device that gets too many pushes, and for Apple's
 * own errors.
 */
function isRejection(status: number | null): boolean {
  return status !== null && status >= 400 && status < 500 && status !== 410 && status !== 429;
}
