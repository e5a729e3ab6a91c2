/** What the operator's routes are given, on a store. */

import type { operatorRoutes } from '../../src/api/operator-routes.ts';
import type { Store } from '../../src/database/store.ts';
import { secrets } from './api.ts';
import { DEFAULT_ORIGINS } from './default-origins.ts';

type Parts = Parameters<typeof operatorRoutes>[0];

export const makeOperatorParts = ({ sql }: Store): Parts => ({
  sql,
  secrets,
  origins: DEFAULT_ORIGINS,
  check: () => Promise.resolve({ isHealthy: true, note: '' }),
});
