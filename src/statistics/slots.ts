/**
 * Assigns rows of tag_days to writers: writers with rows of their own do not wait for each other's
 * commit.
 */

/**
 * A registering node takes a slot by chance: nodes hardly ever have the same.
 * Days that are over need no slots, and have one row (`mergeTagDays`).
 * @limit slots of a day's counters → two nodes share one, and wait for each other
 */
export const LANE_SLOTS_MAX = 100;
/** Erasing devices: dead tokens and retention. */
export const ERASING_SLOT = LANE_SLOTS_MAX;
/**
 * Lane n of an import writes this slot and the n after it: imports do not wait for registrations,
 * nor these for them.
 */
export const IMPORT_SLOT = ERASING_SLOT + 1;
/** Devices that replace another one. */
export const REPLACING_SLOT = IMPORT_SLOT + LANE_SLOTS_MAX;
/** Bulk operations: those of one client, and so of one tag, take turns. */
export const BULK_SLOT = REPLACING_SLOT + 1;
