/**
 * The sender of any provider: of one credential in one worker, for its whole life. It answers each
 * send exactly once; a refusal is an answer, not an exception.
 */

import type { ApnsEnvironment, DeviceToken } from '../domain/device.ts';
import type { Message } from '../domain/notification.ts';
import type { Rendered, Settle } from '../transport/transport.ts';

export interface Sender {
  /** The same for all devices, so once per chunk. */
  render(message: Message): Rendered;
  readonly capacity: number;
  /** Resolves when `capacity` is above 0, or when the sender is closed. */
  whenReady(): Promise<void>;
  /**
   * `settle(position, outcome)` follows: no closure per device. The caller has seen `capacity`
   * above 0. `environment`: where APNs took this token before, when that is known.
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
