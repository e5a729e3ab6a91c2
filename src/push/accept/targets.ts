/**
 * Finds audience and scopes of a push. A wrong name sends to no device: an unknown target tag adds
 * none, an unknown filter tag leaves none, an unknown exclusion is refused.
 */

import type { ReferencedTag } from '../../catalogue/find-referenced-tags.ts';
import type { AskedAudience } from '../../domain/asked-audience.ts';
import type { ExpressionNode, Operand } from '../../domain/audience-expression.ts';
import { leavesOf, operandsOf, testsOf } from '../../domain/audience-expression.ts';
import type { Selector } from '../../domain/notification.ts';
import { audienceOf, bySelector, SELECTOR_NAMES, SELECTORS } from '../../domain/notification.ts';
import type { ClientScope } from '../sql/notifications/list-scopes.ts';
import { compileExpression, EVERYBODY } from './compile-expression.ts';
import type { Known } from './look-up.ts';
import type { Push, PushFault, TagReferences } from './push.ts';
import type { NamedTest } from './resolve-test.ts';
import { resolveTest } from './resolve-test.ts';

export type TagReference = number | string;

/** Values by the names of their attributes. */
export type UnknownValues = Readonly<Record<string, readonly string[]>>;

export type Targets =
  | {
      readonly ok: true;
      readonly audience: AskedAudience;
      readonly scopes: readonly ClientScope[];
      /** Target and filter tags that are unknown or expired, as they were named. */
      readonly unknownTags: readonly TagReference[];
      readonly tests: readonly NamedTest[];
      /** Values that its tests name, and no device has. Absent: it has no tests. */
      readonly unknownValues?: UnknownValues;
    }
  | {
      readonly ok: false;
      readonly faults: readonly PushFault[];
      /** The scopes it would have: its payload is measured, so all faults come together. */
      readonly scopes: readonly ClientScope[];
    };

/** `known`: what the push names, and all (app, platform)s of its client. */
export function resolveTargets(push: Push, known: Known): Targets {
  const { expression } = push;
  const selected =
    expression === undefined ? selectedBy(push, known.tags) : expressed(expression.root, known);
  const faults = [...selected.faults, ...scopeFaults(push, known.scopes)];
  const scopes = scopesOf(push, selected.targets, known.scopes);
  if (faults.length > 0) return { ok: false, faults, scopes };
  const { audience, unknownTags, tests = [] } = selected;
  return { ok: true, audience, scopes, unknownTags, tests };
}

interface Selected {
  readonly audience: AskedAudience;
  /** The push is for the apps that these are connected to. */
  readonly targets: readonly Pick<ReferencedTag, 'appIds'>[];
  readonly unknownTags: readonly TagReference[];
  /** Absent: none. */
  readonly tests?: readonly NamedTest[];
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
function expressed(root: ExpressionNode, { tags, attributes = NO_ATTRIBUTES }: Known): Selected {
  const byName = new Map<TagReference | null, ReferencedTag>();
  for (const tag of tags) byName.set(tag.id, tag).set(tag.sourceId, tag);
  const tagOf = ({ reference, isExcluded }: Operand): ReferencedTag | null => {
    const tag = byName.get(reference);
    return tag === undefined || (tag.isExpired && !isExcluded) ? null : tag;
  };
  const operands = operandsOf(root);
  const unknown = operands.filter((operand) => tagOf(operand) === null);
  const tests = new Map(testsOf(root).map((leaf) => [leaf, resolveTest(leaf, attributes)]));
  const audience = compileExpression(root, (leaf) => {
    if ('reference' in leaf) {
      const id = tagOf(leaf)?.id ?? null;
      return id !== null && leaf.isExcluded ? -id : id;
    }
    if ('isEverybody' in leaf) return leaf.isExcluded ? null : EVERYBODY;
    const test = 'test' in leaf ? tests.get(leaf) : undefined;
    return test?.ok ? test.test.asked : null;
  });
  const isToEverybody = leavesOf(root).some((leaf) => 'isEverybody' in leaf && !leaf.isExcluded);
  const selecting = operands.flatMap((one) => (one.isExcluded ? [] : (tagOf(one) ?? [])));
  const found = selecting.filter(({ id }) => audience.anyTagIds.includes(id));
  const targets = found.length > 0 ? found : selecting;
  return {
    audience,
    targets: isToEverybody ? EVERY_APP : targets,
    unknownTags: [...new Set(unknown.flatMap((one) => (one.isExcluded ? [] : [one.reference])))],
    tests: [...tests.values()].flatMap((test) => (test.ok ? [test.test] : [])),
    faults: [
      ...unknown.flatMap(({ reference, isExcluded, position }) =>
        isExcluded ? [{ path: 'audience', position, message: noTagTo('exclude', reference) }] : [],
      ),
      ...[...tests.values()].flatMap((test) => (test.ok ? [] : test.faults)),
    ],
  };
}

const NO_ATTRIBUTES: NonNullable<Known['attributes']> = new Map();
const EVERY_APP: Selected['targets'] = [{ appIds: null }];

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
  targets: Selected['targets'],
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
