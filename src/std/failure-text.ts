/** The message of an error, short enough to be stored and shown with the work that it ended. */

import { foreignText } from '../../packages/std/src/foreign-text.ts';

const LENGTH_MAX = 200;

/** The code of a database's or a worker's error means nothing to an operator. */
export const failureText = (error: unknown): string =>
  foreignText(error instanceof Error ? error.message : String(error), LENGTH_MAX);
