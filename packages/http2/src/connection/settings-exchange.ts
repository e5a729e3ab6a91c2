/**
 * Both directions of SETTINGS (RFC 9113, 6.5): the peer's demands, applied as they arrive, and our
 * own. One SETTINGS frame of ours is under way at a time; a later one waits for its ACK.
 */

import { ConnectionError, ErrorCode } from '../error.ts';
import type { Parameter } from '../frame/settings.ts';
import { INITIAL_WINDOW_OCTETS, Setting } from '../frame/settings.ts';

/**
 * A peer acknowledges at once; after ten seconds the connection is lost (SETTINGS_TIMEOUT, 6.5.3).
 */
export const SETTINGS_TIMEOUT_MS = 10_000;

/**
 * The peer's demands that are kept, with the initial values of 6.5.2 until it sends others. The
 * encoder keeps HEADER_TABLE_SIZE.
 */
export interface RemoteSettings {
  streamsMax: number;
  initialWindowOctets: number;
}

export const initialRemoteSettings = (): RemoteSettings => ({
  streamsMax: Number.POSITIVE_INFINITY,
  initialWindowOctets: INITIAL_WINDOW_OCTETS,
});

/**
 * Applies one parameter; values were checked when they were read. Unknown ones are ignored (6.5.2),
 * and so are limits that we never come near.
 */
export function applyParameter(settings: RemoteSettings, [identifier, value]: Parameter): void {
  switch (identifier) {
    case Setting.MAX_CONCURRENT_STREAMS:
      settings.streamsMax = value;
      return;
    case Setting.INITIAL_WINDOW_SIZE:
      settings.initialWindowOctets = value;
      return;
    default:
      return;
  }
}

/** Our own demands on their way to the peer. */
export class LocalSettings {
  #sentAtMs: number | null = null;
  #next: readonly Parameter[] | null = null;

  get isAcknowledged(): boolean {
    return this.#sentAtMs === null;
  }

  /**
   * True: send them now. False: they are kept until `acknowledged`, in place of others that waited.
   */
  demand(parameters: readonly Parameter[]): boolean {
    if (this.#sentAtMs !== null) {
      this.#next = parameters;
      return false;
    }
    this.#sentAtMs = performance.now();
    return true;
  }

  /** The peer's ACK; returns the settings to demand next. */
  acknowledged(): readonly Parameter[] | null {
    if (this.#sentAtMs === null) {
      throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'SETTINGS ACK for nothing');
    }
    const next = this.#next;
    this.#sentAtMs = null;
    this.#next = null;
    return next;
  }

  /** Throws SETTINGS_TIMEOUT when the peer has not acknowledged in time. */
  checkTime(nowMs: number): void {
    if (this.#sentAtMs === null || nowMs - this.#sentAtMs <= SETTINGS_TIMEOUT_MS) return;
    throw new ConnectionError(ErrorCode.SETTINGS_TIMEOUT, 'SETTINGS were not acknowledged');
  }
}
