/** What an error says, short enough to be stored and shown beside what it ended. */

import { foreignText } from './foreign-text.ts';

const LENGTH_MAX = 200;

/** Its message, for the code of a database's or a worker's error tells nobody anything. */
export const failureText = (error: unknown): string =>
  foreignText(error instanceof Error ? error.message : String(error), LENGTH_MAX);
