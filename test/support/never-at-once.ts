/** For tests of accepting without workers: every push takes its turns. */

import type { StartsAtOnce } from '../../src/push/accept/accept.ts';

export const NEVER_AT_ONCE: StartsAtOnce = { insert: () => Promise.resolve(null) };
