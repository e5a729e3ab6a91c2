/**
 * Until when a notification is sent: a first send may be late, a retry only while the message is of
 * use (internals/interface.md, "Payload").
 */

import type { Message } from '../../domain/notification.ts';
import { endMsOf } from '../../providers/expiry.ts';
import { providerOn } from '../../providers/providers.ts';
import { PATIENCE_MS } from '../../providers/retry-policies.ts';

export interface Deadlines {
  /** A first send may begin until then; later too if the message does not expire. */
  readonly sendUntilMs: number;
  /** A retry may begin until then. */
  readonly retryUntilMs: number;
  /** Whether `expiresAt` or `ttl` sets them: then late is `expired`, else `failed`. */
  readonly expires: boolean;
}

export function deadlinesOf(message: Message, platformId: number): Deadlines {
  const { payload, dueAtMs, expiresAtMs } = message;
  const ttlMs = payload.ttlSeconds === undefined ? null : payload.ttlSeconds * 1_000;
  const { patienceMs } = providerOn(platformId);
  const usefulMs = Math.min(ttlMs ?? patienceMs, patienceMs);
  const sendUntilMs = expiresAtMs ?? dueAtMs + Math.max(usefulMs, PATIENCE_MS);
  const endMs = endMsOf(message) ?? Number.POSITIVE_INFINITY;
  return {
    sendUntilMs,
    retryUntilMs: Math.min(endMs, sendUntilMs),
    expires: endMs <= sendUntilMs,
  };
}

/** Whether a device that was tried before expires at this time, instead of being tried again. */
export const isTooLate = ({ expires, retryUntilMs }: Deadlines, atMs: number): boolean =>
  expires && atMs >= retryUntilMs;
