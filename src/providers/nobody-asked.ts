/** A credential of which no provider can say whether it is accepted. */

/**
 * How the note of its check begins: by this, readers tell it from a check that failed to reach the
 * provider.
 */
export const NOBODY_ASKED = 'Nobody was asked';
