/** The Admin API: what operators of a client and their tools call. */

import type { Secrets } from '../../access/secrets.ts';
import type { Route } from '../handler.ts';
import { credentialRoutes } from './credentials.ts';
import { historyRoute } from './history.ts';
import { keyRoutes } from './keys.ts';
import { removalsRoute } from './removals.ts';
import { statsAppRoute } from './stats-app.ts';
import { statsTagRoute } from './stats-tag.ts';
import { tagGroupResourceRoutes } from './tag-group-resources.ts';
import type { TagResourceParts } from './tag-resources.ts';
import { tagResourceRoutes } from './tag-resources.ts';
import { tagRoutes } from './tags.ts';

export interface AdminApi extends TagResourceParts {
  readonly secrets: Secrets;
}

export const adminRoutes = (api: AdminApi): readonly Route[] => [
  historyRoute(api.patientReads),
  ...tagRoutes(api.sql),
  ...tagResourceRoutes(api),
  ...tagGroupResourceRoutes(api),
  removalsRoute(api.patientReads),
  statsTagRoute(api),
  statsAppRoute(api),
  ...credentialRoutes(api),
  ...keyRoutes(api),
];
