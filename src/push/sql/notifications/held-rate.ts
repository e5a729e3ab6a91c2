/** The rate that a notification is held to: its own, or, until it has paused by itself, ours. */

import { constantText } from '../../../database/rows.ts';

/**
 * A job that pauses itself is held to a rate, so that all nodes draw its sends from one line.
 * @limit devices a second of a job with `pauseAfter` and no `ratePerSecond`, until it has paused →
 * the next draw
 */
const STAGE_RATE_PER_SECOND = 1_000;

export const HELD_RATE = `coalesce(n.rate_per_second, case when n.pause_after is not null and n.stage_ended_at is null then ${STAGE_RATE_PER_SECOND} end)`;

/** The rate of the notification `n`. Null: it is held to none. */
export const heldRate = constantText(HELD_RATE);
