/**
 * Faults of a send that no provider says: our own words for them (providers/fault-sentence.ts has
 * their meaning).
 */

/** The fault of an (app, platform) that has no credential. */
export const MISSING_CREDENTIAL = 'MissingCredential';
/** The fault of a message that was accepted and that its sender cannot make sense of. */
export const CANNOT_BE_RENDERED = 'MessageCannotBeRendered';
