/** Who writes which rows of tag_days: writers that have rows of their own do not wait for each other's commit. */

/** Lane n of a registering node writes slot n; nodes share them. */
export const LANE_SLOTS_MAX = 100;
/** Erasing devices: dead tokens and retention. */
export const ERASING_SLOT = LANE_SLOTS_MAX;
