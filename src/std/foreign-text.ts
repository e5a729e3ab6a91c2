/**
 * Text that a stranger wrote (a provider, a proxy in between), made fit for logs, answers and the
 * database.
 */

/**
 * Cut to `lengthMax`, control characters replaced: PostgreSQL refuses NUL, and with it everything
 * in its transaction.
 */
export const foreignText = (text: string, lengthMax: number): string =>
  text.slice(0, lengthMax).replaceAll(CONTROL, '\u{fffd}').toWellFormed();

const CONTROL = /\p{Cc}/gu;
