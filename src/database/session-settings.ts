/**
 * Session settings that change what statements mean: a database or role may have others, so each
 * connection brings ours. A pooler may drop them: then the database must have them itself.
 */

/** Whether a value will do, and one that does. */
interface Wanted {
  readonly value: string;
  isGood(value: string): boolean;
}

const exactly = (value: string): Wanted => ({ value, isGood: (found) => found === value });

/** Spelled as in pg_settings. */
export const WANTED_SETTINGS: Readonly<Record<string, Wanted>> = {
  // The driver reads no other form.
  bytea_output: exactly('hex'),
  DateStyle: { value: 'ISO, MDY', isGood: (found) => found.startsWith('ISO') },
  // Fewer digits round times and counts.
  extra_float_digits: { value: '1', isGood: (found) => Number(found) >= 1 },
  // Off, NULL in an array is the text "NULL".
  array_nulls: exactly('on'),
  standard_conforming_strings: exactly('on'),
  // Stricter levels fail where statements wait for each other.
  default_transaction_isolation: exactly('read committed'),
};

/** For the start of a connection. */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(WANTED_SETTINGS).map(([name, { value }]) => [name, value]),
);
