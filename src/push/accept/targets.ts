/**
 * Finds audience and scopes of a push. A wrong name sends to no device: an unknown target tag adds
 * none, an unknown filter tag leaves none, an unknown exclusion is refused.
 */

import type { ReferencedTag } from '../../catalogue/find-referenced-tags.ts';
import type { ExpressionNode, Operand } from '../../domain/audience-expression.ts';
import { operandsOf } from '../../domain/audience-expression.ts';
import type { Audience, Selector } from '../../domain/notification.ts';
import { audienceOf, bySelector, SELECTOR_NAMES, SELECTORS } from '../../domain/notification.ts';
import type { ClientScope } from '../sql/notifications/list-scopes.ts';
import { compileExpression } from './compile-expression.ts';
import type { Push, PushFault, TagReferences } from './push.ts';

export type TagReference = number | string;

export type Targets =
  | {
      readonly ok: true;
      readonly audience: Audience;
      readonly scopes: readonly ClientScope[];
      /** Target and filter tags that are unknown or expired, as they were named. */
      readonly unknownTags: readonly TagReference[];
    }
  | {
      readonly ok: false;
      readonly faults: readonly PushFault[];
      /** The scopes it would have: its payload is measured, so all faults come together. */
      readonly scopes: readonly ClientScope[];
    };

/** `tags`: those of the client that the push names. `clientScopes`: all (app, platform)s of it. */
export function resolveTargets(
  push: Push,
  tags: readonly ReferencedTag[],
  clientScopes: readonly ClientScope[],
): Targets {
  const { expression } = push;
  const selected =
    expression === undefined ? selectedBy(push, tags) : expressed(expression.root, tags);
  const faults = [...selected.faults, ...scopeFaults(push, clientScopes)];
  const scopes = scopesOf(push, selected.targets, clientScopes);
  if (faults.length > 0) return { ok: false, faults, scopes };
  const { audience, unknownTags } = selected;
  return { ok: true, audience, scopes, unknownTags };
}

interface Selected {
  readonly audience: Audience;
  /** The push is for the apps that these are connected to. */
  readonly targets: readonly ReferencedTag[];
  readonly unknownTags: readonly TagReference[];
  readonly faults: readonly PushFault[];
}

function selectedBy(push: Push, tags: readonly ReferencedTag[]): Selected {
  const current = tags.filter(({ isExpired }) => !isExpired);
  const found = bySelector((selector) =>
    // An expired tag still excludes: devices still have it, and the publisher asked for it.
    find(push[selector], isUnknownRefused(selector) ? tags : current),
  );
  const audience = audienceOf((selector) => idsOf(found[selector].known));
  const isNobodyLeft = SELECTOR_NAMES.some(
    (selector) =>
      SELECTORS[selector].ifUnknown === 'leaves-nobody' && found[selector].unknown.length > 0,
  );
  return {
    // An audience without target tags has no devices: so an unknown filter tag leaves none.
    audience: isNobodyLeft ? { ...audience, anyTagIds: [] } : audience,
    targets: found.target.known,
    unknownTags: [...new Set(SELECTOR_NAMES.flatMap((selector) => found[selector].unknown))],
    faults: SELECTOR_NAMES.filter(isUnknownRefused).flatMap((selector) =>
      found[selector].unknown.map((reference) => ({
        path: SELECTORS[selector][typeof reference === 'number' ? 'ids' : 'sourceIds'],
        message: noTagTo(selector, reference),
      })),
    ),
  };
}

/** An operand selects as a target or filter tag does; under an odd number of `!` it excludes. */
function expressed(root: ExpressionNode, tags: readonly ReferencedTag[]): Selected {
  const byName = new Map<TagReference | null, ReferencedTag>();
  for (const tag of tags) byName.set(tag.id, tag).set(tag.sourceId, tag);
  const tagOf = ({ reference, isExcluded }: Operand): ReferencedTag | null => {
    const tag = byName.get(reference);
    return tag === undefined || (tag.isExpired && !isExcluded) ? null : tag;
  };
  const operands = operandsOf(root);
  const unknown = operands.filter((operand) => tagOf(operand) === null);
  const audience = compileExpression(root, (operand) => tagOf(operand)?.id ?? null);
  const selecting = operands.flatMap((one) => (one.isExcluded ? [] : (tagOf(one) ?? [])));
  const targets = selecting.filter(({ id }) => audience.anyTagIds.includes(id));
  return {
    audience,
    targets: targets.length > 0 ? targets : selecting,
    unknownTags: [...new Set(unknown.flatMap((one) => (one.isExcluded ? [] : [one.reference])))],
    faults: unknown.flatMap(({ reference, isExcluded, position }) =>
      isExcluded ? [{ path: 'audience', position, message: noTagTo('exclude', reference) }] : [],
    ),
  };
}

const noTagTo = (selector: Selector, reference: TagReference): string =>
  `There is no tag ${JSON.stringify(reference)} to ${selector}.`;

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

/** Apps that are not the client's; and platforms, when none of the apps is on any of them. */
function scopeFaults(push: Push, clientScopes: readonly ClientScope[]): readonly PushFault[] {
  const { appIds, platformIds } = push;
  const apps = new Set(clientScopes.map(({ appId }) => appId));
  const unknown = (appIds ?? []).filter((appId) => !apps.has(appId));
  const isNowhere =
    platformIds !== null && apps.size > 0 && askedScopes(push, clientScopes).length === 0;
  return [
    ...unknown.map((appId) => ({ path: 'appIds', message: `There is no app ${appId}.` })),
    ...(isNowhere && unknown.length === 0
      ? [{ path: 'platformIds', message: 'No app of this push is on any of these platforms.' }]
      : []),
  ];
}

/** Scopes of the apps that are connected to a target tag; if none is, all: `status` needs a row. */
function scopesOf(
  push: Push,
  targets: readonly ReferencedTag[],
  clientScopes: readonly ClientScope[],
): readonly ClientScope[] {
  const asked = askedScopes(push, clientScopes);
  if (targets.some((tag) => tag.appIds === null)) return asked;
  const ofTags = new Set(targets.flatMap((tag) => tag.appIds ?? []));
  const connected = asked.filter(({ appId }) => ofTags.has(appId));
  return connected.length > 0 ? connected : asked;
}

/** Those that the push names, and its publisher may address. */
function askedScopes(
  { appIds, appLimit, platformIds }: Push,
  clientScopes: readonly ClientScope[],
): readonly ClientScope[] {
  const named = appIds && new Set(appIds);
  const allowed = appLimit && new Set(appLimit);
  return clientScopes.filter(
    ({ appId, platformId }) =>
      (named?.has(appId) ?? true) &&
      (allowed?.has(appId) ?? true) &&
      (platformIds?.includes(platformId) ?? true),
  );
}
