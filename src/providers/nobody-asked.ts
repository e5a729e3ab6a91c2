/** A credential of which no provider can say whether it is accepted. */

/**
 * The beginning of a check's note by which readers know that no provider was asked, as opposed to
 * one that the check failed to reach.
 */
export const NOBODY_ASKED = 'Nobody was asked';
