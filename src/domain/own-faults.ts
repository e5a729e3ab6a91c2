/**
 * Faults of a send that the engine itself finds, not a provider (providers/fault-sentence.ts has
 * their meaning).
 */

/** The fault of an (app, platform) that has no credential. */
export const MISSING_CREDENTIAL = 'MissingCredential';
/** The fault of an accepted message that its sender cannot render. */
export const CANNOT_BE_RENDERED = 'MessageCannotBeRendered';
