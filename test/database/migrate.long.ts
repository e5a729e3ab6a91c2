/**
 * What the test of migration 0012 holds of three thousand devices, of a million with five tags
 * each.
 */

import t from 'tap';
import { becomesOneRowEach } from '../support/one-row-migration.ts';

t.test('a million devices and their subscriptions become one row each, and nothing is lost', (t) =>
  becomesOneRowEach(t, 1_000_000),
);
