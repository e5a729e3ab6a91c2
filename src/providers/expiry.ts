/** When a message expires: at the end of its ttl or at its `expiresAt`, the earlier one. */

import type { Message } from '../domain/notification.ts';
import { TTL_SECONDS_MAX } from '../domain/payload-bounds.ts';

/** The end in epoch milliseconds. Null: it has none. */
export function endMsOf({ payload, dueAtMs, expiresAtMs }: Message): number | null {
  const ends = [
    ...(payload.ttlSeconds === undefined ? [] : [dueAtMs + payload.ttlSeconds * 1_000]),
    ...(expiresAtMs === null ? [] : [expiresAtMs]),
  ];
  return ends.length === 0 ? null : Math.min(...ends);
}

/** Whole seconds left, as a ttl. 0: the end has passed, so one try at most. Null: no end. */
export function secondsLeft(message: Message, nowMs: number): number | null {
  const endMs = endMsOf(message);
  if (endMs === null) return null;
  return Math.min(Math.max(Math.ceil((endMs - nowMs) / 1_000), 0), TTL_SECONDS_MAX);
}
