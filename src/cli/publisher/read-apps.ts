/** Apps on the command line, each by `--app`. */

import { readNumber } from '../arguments.ts';
import { NONE } from './none.ts';

/** Null: every app. */
export const readApps = (texts: readonly string[]): readonly number[] | null =>
  texts.length === 1 && texts[0] === NONE ? null : texts.map((text) => readNumber('--app', text));
