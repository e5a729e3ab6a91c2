/**
 * Makes the text of a stranger (a provider, a proxy in between) fit for logs, answers and the
 * database.
 */

/**
 * Cut to `lengthMax`, control characters replaced: PostgreSQL refuses NUL, and fails the whole
 * transaction.
 */
export const foreignText = (text: string, lengthMax: number): string =>
  text.slice(0, lengthMax).replaceAll(CONTROL, '\u{fffd}').toWellFormed();

const CONTROL = /\p{Cc}/gu;
