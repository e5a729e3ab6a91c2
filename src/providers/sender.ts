/**
 * The sender of any provider: it takes one message for one device at a time, and answers each
 * exactly once. A refusal is an answer, not an exception. One sender belongs to one credential in
 * one worker thread, for its whole life.
 */

import type { ApnsEnvironment, DeviceToken } from '../domain/device.ts';
import type { Message } from '../domain/notification.ts';
import type { Rendered, Settle } from '../transport/transport.ts';

export interface Sender {
  /**
   * Renders a message for this provider. Rendering is the same for all devices, so it happens once
   * per chunk.
   */
  render(message: Message): Rendered;
  /** Sends that may start now without waiting in a queue. */
  readonly capacity: number;
  /**
   * Resolves when `capacity` is above 0, at once if it is already, or when the sender is closed.
   */
  whenReady(): Promise<void>;
  /**
   * Starts one send; `settle(position, outcome)` follows. The caller has seen `capacity` above 0.
   * `position` is the caller's own number for it, so that no closure is needed per device.
   * `environment`: where APNs took this token before, when that is known; other providers have
   * none.
   */
  send(
    rendered: Rendered,
    deviceId: DeviceToken,
    position: number,
    settle: Settle,
    environment?: ApnsEnvironment | null,
  ): void;
  /** Opens so many connections, if there are fewer, before they are needed. */
  warm(connections: number): void;
  /** A fresh `authorization` header value; sends started from now on carry it. */
  authorize(authorization: string): void;
  /** Lets sends under way settle (those that cannot are `unknown`), then closes the connections. */
  close(): Promise<void>;
}
