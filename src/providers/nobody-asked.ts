/** A credential of which no provider can say whether it is accepted. */

/** Begins a check's note where no provider was asked, as opposed to one that was not reached. */
export const NOBODY_ASKED = 'Nobody was asked';
