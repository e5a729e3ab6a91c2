/** Assigns rows of tag_days to writers, so that none waits for another's commit. */

/**
 * A registering node takes one by chance. Past days have one row (`mergeTagDays`).
 * @limit slots of a day's counters → two nodes share one, and wait for each other
 */
export const LANE_SLOTS_MAX = 100;
/** Erasing devices: dead tokens and retention. */
export const ERASING_SLOT = LANE_SLOTS_MAX;
/** Lane n of an import writes the slot n after this: registrations do not wait for it. */
export const IMPORT_SLOT = ERASING_SLOT + 1;
/** Devices that replace another one. */
export const REPLACING_SLOT = IMPORT_SLOT + LANE_SLOTS_MAX;
/** Bulk operations: those of one client, and so of one tag, take turns. */
export const BULK_SLOT = REPLACING_SLOT + 1;
