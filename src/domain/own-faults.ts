/** Faults of a send that the engine finds (providers/fault-sentence.ts has their meaning). */

export const MISSING_CREDENTIAL = 'MissingCredential';
export const CANNOT_BE_RENDERED = 'MessageCannotBeRendered';
