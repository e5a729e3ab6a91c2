/** `GET /push-admin-api/v3/<client-id>/stats/tag/<tag-id>`: exact counts of a tag. */

import { coversTag } from '../../catalogue/key-limits.ts';
import { readTagById } from '../../catalogue/read-tags.ts';
import { appTag } from '../../catalogue/routes/tag-schemas.ts';
import { tagObject } from '../../catalogue/tag-object.ts';
import { shown } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { epochMs, orAbsent } from '../../http/openapi/parts.ts';
import type { PathParameter } from '../../http/parameters.ts';
import { pathId } from '../../http/parameters.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import type { StatsParts } from './stats-answer.ts';
import { ABOUT, STATISTICS, statisticsOf, withStatistics } from './stats-answer.ts';

const NO_TAG = refused(404, 'There is no such tag.');
const tag: PathParameter<number> = { ...pathId('tag', 2), unknown: NO_TAG };

/** Takes a body, and ignores it. */
export const statsTagRoute = (parts: StatsParts): Route => ({
  ...readRoute(parts),
  bodyBytesMax: BODY_BYTES_MAX,
});

const readRoute = ({ sql, patientReads }: StatsParts) =>
  routesAt('/push-admin-api/v3/:client/stats/tag/:tag', { api: 'admin', needs: 'read' }).get(
    'getTagStatistics',
    {
      summary: 'Exact counts of a tag',
      description: `\`notifications\`, \`delivered\` and \`failed\` are of the notifications that had it as a target, over all of their devices. ${ABOUT}`,
      path: { tag },
      answer: shown(
        'Its subscribers and its pushes, in all and by day.',
        withStatistics({ tag: appTag.extend({ expiration: orAbsent(epochMs) }) }),
        { tag: { id: 2, name: 'Breaking news', sourceId: 'breaking-news' }, ...STATISTICS },
      ),
    },
    async ({ caller, path }) => {
      const { clientId, key } = caller;
      const found = await readTagById(sql, clientId, path.tag);
      if (found === null) return NO_TAG;
      // The counts are of all apps.
      if (key?.appIds || !(await coversTag(sql, caller, found))) return refuse.outside();
      const read = await statisticsOf(patientReads, { kind: 'tag', id: found.id, clientId });
      if (!read.ok) return read;
      return done({ tag: { ...tagObject(found), expiration: found.expiresAtMs }, ...read.value });
    },
  );
