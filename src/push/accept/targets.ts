/**
 * Finds the audience and scopes for the tags that a push names. No device may get a push because of
 * a wrong name: an unknown target tag adds no device, an unknown filter tag leaves none, an unknown
 * exclusion is refused.
 */

import type { PlatformId, Scope } from '../../domain/device.ts';
import type { Audience, Selector } from '../../domain/notification.ts';
import { audienceOf, bySelector, SELECTOR_NAMES, SELECTORS } from '../../domain/notification.ts';
import type { ReferencedTag } from '../../store/notifications/find-referenced-tags.ts';
import type { Push, PushFault, TagReferences } from './push.ts';

export type TagReference = number | string;

export type Targets =
  | {
      readonly ok: true;
      readonly audience: Audience;
      readonly scopes: readonly Scope<PlatformId>[];
      /** Target and filter tags that are unknown or expired, as they were named. */
      readonly unknownTags: readonly TagReference[];
    }
  | {
      readonly ok: false;
      readonly faults: readonly PushFault[];
      /** The scopes it would have: to measure the payload, so that all faults are told together. */
      readonly scopes: readonly Scope<PlatformId>[];
    };

/** `tags`: those of the client that the push names. `clientScopes`: all (app, platform)s of it. */
export function resolveTargets(
  push: Push,
  tags: readonly ReferencedTag[],
  clientScopes: readonly Scope<PlatformId>[],
): Targets {
  const current = tags.filter(({ isExpired }) => !isExpired);
  const found = bySelector((selector) =>
    // An expired tag still excludes: devices still have it, and the publisher asked for it.
    find(push[selector], isUnknownRefused(selector) ? tags : current),
  );

  const apps = new Set(clientScopes.map(({ appId }) => appId));
  const faults = [
    ...SELECTOR_NAMES.filter(isUnknownRefused).flatMap((selector) =>
      found[selector].unknown.map((reference) => ({
        path: SELECTORS[selector][typeof reference === 'number' ? 'ids' : 'sourceIds'],
        message: `There is no tag ${JSON.stringify(reference)} to ${selector}.`,
      })),
    ),
    ...(push.appIds ?? [])
      .filter((appId) => !apps.has(appId))
      .map((appId) => ({ path: 'appIds', message: `There is no app ${appId}.` })),
  ];
  const scopes = scopesOf(push.appIds, found.target.known, clientScopes);
  if (faults.length > 0) return { ok: false, faults, scopes };

  const audience = audienceOf((selector) => idsOf(found[selector].known));
  const isNobodyLeft = SELECTOR_NAMES.some(
    (selector) =>
      SELECTORS[selector].ifUnknown === 'leaves-nobody' && found[selector].unknown.length > 0,
  );
  return {
    ok: true,
    // An audience without target tags has no devices: so an unknown filter tag leaves none.
    audience: isNobodyLeft ? { ...audience, anyTagIds: [] } : audience,
    scopes,
    unknownTags: [...new Set(SELECTOR_NAMES.flatMap((selector) => found[selector].unknown))],
  };
}

const isUnknownRefused = (selector: Selector): boolean =>
  SELECTORS[selector].ifUnknown === 'is-refused';

interface Found {
  readonly known: readonly ReferencedTag[];
  readonly unknown: readonly TagReference[];
}

function find({ ids, sourceIds }: TagReferences, tags: readonly ReferencedTag[]): Found {
  const byId = new Map(tags.map((tag) => [tag.id, tag]));
  const bySourceId = new Map(tags.map((tag) => [tag.sourceId, tag]));
  const found = [
    ...ids.map((id) => ({ reference: id, tag: byId.get(id) })),
    ...sourceIds.map((sourceId) => ({ reference: sourceId, tag: bySourceId.get(sourceId) })),
  ];
  return {
    known: found.flatMap(({ tag }) => tag ?? []),
    unknown: found.filter(({ tag }) => tag === undefined).map(({ reference }) => reference),
  };
}

const idsOf = (tags: readonly ReferencedTag[]): readonly number[] => [
  ...new Set(tags.map(({ id }) => id)),
];

/**
 * The scopes of the requested apps that are connected to a target tag. If none is: those of all
 * requested apps, so that `status` has a row.
 */
function scopesOf(
  appIds: readonly number[] | null,
  targets: readonly ReferencedTag[],
  clientScopes: readonly Scope<PlatformId>[],
): readonly Scope<PlatformId>[] {
  const asked = clientScopes.filter(({ appId }) => appIds === null || appIds.includes(appId));
  const connected = asked.filter(({ appId }) =>
    targets.some((tag) => tag.appIds === null || tag.appIds.includes(appId)),
  );
  return connected.length > 0 ? connected : asked;
}
