/**
 * When a message is of no use any more, which each provider writes in its own way: the earlier of
 * its ttl's end and its own.
 */

import type { Message } from '../domain/notification.ts';
import { TTL_SECONDS_MAX } from '../domain/payload.ts';

/** Epoch milliseconds; null: it has no end. */
export function endMsOf({ payload, dueAtMs, expiresAtMs }: Message): number | null {
  const ends = [
    ...(payload.ttlSeconds === undefined ? [] : [dueAtMs + payload.ttlSeconds * 1_000]),
    ...(expiresAtMs === null ? [] : [expiresAtMs]),
  ];
  return ends.length === 0 ? null : Math.min(...ends);
}

/** Whole seconds left, as a ttl; 0, now or never, when it is past; null: it has no end. */
export function secondsLeft(message: Message, nowMs: number): number | null {
  const endMs = endMsOf(message);
  if (endMs === null) return null;
  return Math.min(Math.max(Math.ceil((endMs - nowMs) / 1_000), 0), TTL_SECONDS_MAX);
}
