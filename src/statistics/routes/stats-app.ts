/** `GET /push-admin-api/v3/<client-id>/stats/app/<app-id>`: exact counts of an app. */

import { z } from 'zod';
import { findAppName } from '../../clients/find-app.ts';
import { limitsTags } from '../../domain/caller.ts';
import { shown } from '../../http/answers.ts';
import { id } from '../../http/openapi/parts.ts';
import type { PathParameter } from '../../http/parameters.ts';
import { pathId } from '../../http/parameters.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import type { StatsParts } from './stats-answer.ts';
import { ABOUT, STATISTICS, statisticsOf, withStatistics } from './stats-answer.ts';

const NO_APP = refused(404, 'There is no such app.');
const app: PathParameter<number> = { ...pathId('app', 1), unknown: NO_APP };

export const statsAppRoute = ({ sql, patientReads }: StatsParts) =>
  routesAt('/push-admin-api/v3/:client/stats/app/:app', { api: 'admin', needs: 'read' }).get(
    'getAppStatistics',
    {
      summary: 'Exact counts of an app',
      description: `Its subscribers are the devices that have any tag; \`subscribed\` and \`unsubscribed\` are those that became or ceased to be one. The notifications are those that could go to the app; \`delivered\` and \`failed\` are of its devices. ${ABOUT}`,
      path: { app },
      answer: shown(
        'Its subscribers and its pushes, in all and by day.',
        withStatistics({ app: z.object({ id, name: z.string() }) }),
        { app: { id: 1, name: 'Demo' }, ...STATISTICS },
      ),
    },
    async ({ caller: { clientId, key }, path: { app: id } }) => {
      const name = await findAppName(sql, clientId, id);
      if (name === null) return NO_APP;
      // The counts are of all tags.
      const isOutside =
        key !== undefined && (limitsTags(key) || key.appIds?.includes(id) === false);
      if (isOutside) return refuse.outside();
      const read = await statisticsOf(patientReads, { kind: 'app', id, clientId });
      return read.ok ? done({ app: { id, name }, ...read.value }) : read;
    },
  );
