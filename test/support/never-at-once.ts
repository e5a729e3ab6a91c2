/** For tests of accepting without workers: every push takes its turns. */

import type { AtOnce } from '../../src/push/dispatch/at-once.ts';

export const NEVER_AT_ONCE: Pick<AtOnce, 'insert'> = { insert: () => Promise.resolve(null) };
