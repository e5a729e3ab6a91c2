/**
 * Accepts bulk operations: `apps/<id>/platforms/<platformId>/subscriptions` of a list of devices,
 * `tags/<id>/members` of the members of a tag.
 */

import { z } from 'zod';
import { inClient } from '../../access/routes/in-client.ts';
import { findNamedTag } from '../../catalogue/find-named.ts';
import type { ReferencedTag } from '../../catalogue/find-referenced-tags.ts';
import { findReferencedTags } from '../../catalogue/find-referenced-tags.ts';
import { coveredTags } from '../../catalogue/key-limits.ts';
import { readTagById } from '../../catalogue/read-tags.ts';
import { isNotOn, SCOPE_PATH } from '../../catalogue/routes/app-on-platform.ts';
import { findOwnApp } from '../../catalogue/routes/own-app.ts';
import { sourceId } from '../../catalogue/routes/tag-forms.ts';
import { readTerritory } from '../../catalogue/territory.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import { readClock } from '../../database/read-clock.ts';
import type { Sql } from '../../database/sql.ts';
import {
  BULK_DEVICES_MAX,
  BULK_TAGS_MAX,
  LIST_ACTIONS,
  MEMBER_ACTIONS,
} from '../../domain/bulk-operation.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Tag } from '../../domain/tag.ts';
import { isExpired } from '../../domain/tag.ts';
import { deviceId } from '../../http/device-id-form.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { id } from '../../http/id-form.ts';
import { pathId } from '../../http/parameters.ts';
import type { Fault } from '../../http/problem.ts';
import type { Result } from '../../http/result.ts';
import { done, refuse } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { subscribersByApp } from '../../statistics/read-statistics.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import { deviceRef } from '../operation.ts';
import { acceptedOperation, acceptOperation, BACKGROUND, refusedFull } from './accept-operation.ts';
import type { BulkAttributeParts } from './bulk-attributes.ts';
import { bulkAttributesRoute } from './bulk-attributes.ts';
import { MOVE, SUBSCRIBE } from './bulk-resources.ts';

const some = <T extends z.ZodType>(entry: T, entriesMax: number) =>
  measured(entriesMax, z.array(entry, 'must be an array').min(1, 'names none').max(entriesMax));

const subscriptionsForm = strictForm({
  action: z.enum(LIST_ACTIONS, `must be one of ${LIST_ACTIONS.join(', ')}`),
  tagIds: some(id, BULK_TAGS_MAX).optional(),
  tagSourceIds: some(sourceId, BULK_TAGS_MAX).optional(),
  deviceIds: some(deviceId, BULK_DEVICES_MAX),
})
  .refine(
    ({ tagIds, tagSourceIds }) => tagIds !== undefined || tagSourceIds !== undefined,
    'needs tagIds or tagSourceIds',
  )
  .refine(
    ({ tagIds = [], tagSourceIds = [] }) => tagIds.length + tagSourceIds.length <= BULK_TAGS_MAX,
    `tagIds and tagSourceIds must have ${BULK_TAGS_MAX} entries at most together`,
  );

const membersForm = strictForm({
  action: z.enum(MEMBER_ACTIONS, `must be one of ${MEMBER_ACTIONS.join(', ')}`),
  toTagId: id.optional(),
  toTagSourceId: sourceId.optional(),
}).refine(
  ({ action, toTagId, toTagSourceId }) =>
    Number(toTagId !== undefined) + Number(toTagSourceId !== undefined) ===
    (action === 'remove' ? 0 : 1),
  'copy and move need toTagId or toTagSourceId, one of them; remove takes neither',
);

export interface BulkRequestParts extends BulkAttributeParts {
  readonly patientReads: PatientReads;
}

const V3 = '/push-admin-api/v3/:client';
const admin = { api: 'admin', needs: 'admin' } as const;
const NO_TAG_HERE = refuse.unknown('tag');

/** All answer 202 with the operation. */
export const bulkRequestRoutes = (parts: BulkRequestParts): readonly Route[] => [
  subscriptionsRoute(parts),
  membersRoute(parts),
  bulkAttributesRoute(parts),
];

const subscriptionsRoute = ({ sql }: BulkRequestParts) =>
  routesAt(`${V3}/apps/:id/platforms/:platform/subscriptions`, admin).post(
    'changeSubscriptions',
    {
      summary: 'Subscribe or unsubscribe a list of devices',
      description: `${BACKGROUND} \`tagIds\` and \`tagSourceIds\` have up to 100 entries together. A tag that the client does not have is \`400\`, and so is subscribing to one that has expired or is not connected to the app. A device that nobody has registered counts as \`unknown\`, and is not made; one that is named twice counts once. A key that is limited to apps or tags: only devices of its apps, and only its tags.`,
      path: SCOPE_PATH,
      body: form(subscriptionsForm, {
        action: 'subscribe',
        tagIds: [2],
        deviceIds: ['cd'.repeat(32), 'ef'.repeat(32)],
      }),
      answer: acceptedOperation(SUBSCRIBE),
    },
    async (asked) => {
      const { caller, body } = asked;
      const own = await findOwnApp(sql, caller, asked.path.id, 'name');
      if (!own.ok) return own;
      const { id: appId, platformIds } = own.value;
      const platformId = asked.path.platform;
      if (!platformIds.includes(platformId)) return isNotOn(platformIds);
      const { action, deviceIds } = body;
      const keys = deviceIds.map((deviceId) => deviceRef(appId, platformId, deviceId).deviceKey);
      const deviceKeys = [...new Set(keys)];
      const change = inClient(sql, async (tx, { record }) => {
        const found = await findTags(tx, caller, body);
        if (!found.ok) return found;
        const faults =
          action === 'unsubscribe'
            ? []
            : found.value.flatMap(({ path, tag }) => unsubscribable(tag, path, appId));
        if (faults.length > 0) return refuse.invalid(faults);
        const tagIds = [...new Set(found.value.map(({ tag }) => tag.id))];
        return acceptOperation(tx, caller, record, {
          action,
          subscribe: action === 'subscribe' ? tagIds : [],
          unsubscribe: action === 'unsubscribe' ? tagIds : [],
          memberOf: null,
          listed: { appId, platformId, deviceKeys },
          appIds: null,
          total: deviceKeys.length,
        });
      });
      return change(asked);
    },
  );

const membersRoute = ({ sql, patientReads }: BulkRequestParts) =>
  routesAt(`${V3}/tags/:id/members`, admin).post(
    'changeMembers',
    {
      summary: 'Copy or move the members of a tag to another tag, or remove them',
      description: `\`copy\`: they get the other tag too. \`move\`: they get it and lose this one. \`remove\`: they lose this one, and no other tag is named. So when a season ends, its subscribers move to the next one. The other tag must not have expired (\`400\`); the tag itself may have.\n\n${BACKGROUND} It is for the devices of all apps that the tag is connected to at the time of the request. The tag cannot be deleted before the operation has ended; it may be disconnected from apps, and its devices there lose it afterwards. Who subscribes to the old tag while the operation runs may keep it: repeat the request when it has ended. A limited key must be one that may change both tags.`,
      path: { id: pathId('tag', 2) },
      body: form(membersForm, { action: 'move', toTagId: 3 }),
      answer: acceptedOperation(MOVE),
    },
    async (asked) => {
      const { caller, path, body } = asked;
      const { clientId } = caller;
      const full = await refusedFull(sql, clientId);
      if (full !== null) return full;
      // Sums of years of days: not while the client's lock is held.
      const counted = await patientReads.run(clientId, (patient) =>
        subscribersByApp(patient, { kind: 'tag', id: path.id, clientId }),
      );
      if (counted.kind === 'busy') return refuse.tooMuchCounted;
      const total = counted.result.reduce((sum, { count }) => sum + count, 0);
      const change = inClient(sql, async (tx, { record }) => {
        const found = await findMoved(tx, caller, path.id, body);
        if (!found.ok) return found;
        const { tag, to } = found.value;
        const { action } = body;
        return acceptOperation(tx, caller, record, {
          action,
          memberOf: tag.id,
          subscribe: to === null ? [] : [to.id],
          unsubscribe: action === 'copy' ? [] : [tag.id],
          listed: null,
          appIds: tag.appIds,
          total,
        });
      });
      return change(asked);
    },
  );

/** A tag, and where the request names it. */
interface NamedTag {
  readonly path: string;
  readonly tag: ReferencedTag;
}

/** All tags that the request names, if the caller may subscribe devices to them. */
async function findTags(
  tx: Sql,
  caller: Caller,
  { tagIds = [], tagSourceIds = [] }: z.infer<typeof subscriptionsForm>,
): Promise<Result<readonly NamedTag[]>> {
  const known = await findReferencedTags(tx, caller.clientId, {
    ids: tagIds,
    sourceIds: tagSourceIds,
  });
  const named = [
    ...tagIds.map((id, at) => ({
      path: `tagIds.${at}`,
      tag: known.find((tag) => tag.id === id),
    })),
    ...tagSourceIds.map((sourceId, at) => ({
      path: `tagSourceIds.${at}`,
      tag: known.find((tag) => tag.sourceId === sourceId),
    })),
  ];
  const covered = new Set((await coveredTags(tx, caller, known)).map(({ id }) => id));
  const tags: NamedTag[] = [];
  const faults: Fault[] = [];
  for (const { path, tag } of named) {
    if (tag === undefined) faults.push({ path, message: NO_TAG });
    else if (covered.has(tag.id)) tags.push({ path, tag });
    else return refuse.outside(path);
  }
  return faults.length === 0 ? done(tags) : refuse.invalid(faults);
}

const NO_TAG = 'names no tag of this client';
const EXPIRED = 'names a tag that has expired';

/** Why no device of the app can subscribe to it. */
function unsubscribable(tag: ReferencedTag, path: string, appId: number): readonly Fault[] {
  if (tag.isExpired) return [{ path, message: EXPIRED }];
  if (tag.appIds?.includes(appId) ?? true) return [];
  return [{ path, message: 'names a tag that is not connected to this app' }];
}

/** The tag whose members are changed, and the one that they get; null: they only lose theirs. */
async function findMoved(
  tx: Sql,
  caller: Caller,
  tagId: number,
  { action, toTagId, toTagSourceId }: z.infer<typeof membersForm>,
): Promise<Result<{ readonly tag: Tag; readonly to: Tag | null }>> {
  const tag = await readTagById(tx, caller.clientId, tagId);
  if (tag === null) return NO_TAG_HERE;
  const territory = await readTerritory(tx, caller);
  if (!territory.holdsTag(tag)) return refuse.outside();
  if (action === 'remove') return done({ tag, to: null });
  const path = toTagId === undefined ? 'toTagSourceId' : 'toTagId';
  const to = await findNamedTag(tx, caller.clientId, { id: toTagId, sourceId: toTagSourceId });
  if (to === null) return refuse.invalid([{ path, message: NO_TAG }]);
  if (!territory.holdsTag(to)) return refuse.outside(path);
  if (to.id === tagId) return refuse.invalid([{ path, message: 'names the tag itself' }]);
  return isExpired(to, await readClock(tx))
    ? refuse.invalid([{ path, message: EXPIRED }])
    : done({ tag, to });
}
