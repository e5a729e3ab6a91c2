/** How the audience of a push is found, as sentences for whoever wonders about its size. */

import type { DryRun } from '../../push/accept/accept.ts';
import type { Push, TagReferences } from '../../push/accept/push.ts';
import type { TagReference } from '../../push/accept/targets.ts';

/** Tags that a sentence names; it tells how many more there are. */
const NAMED_MAX = 20;

/** One sentence for each step, in order. */
export function planOf(
  { target, filter, exclude, appIds }: Push,
  { audience, unknownTags }: Extract<DryRun, { readonly kind: 'counted' }>,
): readonly string[] {
  const unknown = new Set(unknownTags);
  const known = (references: TagReferences) => namesOf(references).filter((n) => !unknown.has(n));
  const missing = namesOf(filter).filter((name) => unknown.has(name));
  const targets = known(target);
  const devices = audience.reduce((sum, { count }) => sum + count, 0);
  return [
    targets.length === 0
      ? 'No target tag is known and unexpired: nobody is addressed.'
      : `Devices that have ${listOf(targets, 'or')}.`,
    ...(namesOf(filter).length === 0
      ? []
      : [`Of these only devices that also have ${listOf(namesOf(filter), 'and')}.`]),
    ...(missing.length === 0
      ? []
      : [`Nobody has ${listOf(missing, 'and')}, unknown or expired: nobody is left.`]),
    ...(namesOf(exclude).length === 0
      ? []
      : [`None of the devices that have ${listOf(namesOf(exclude), 'or')}.`]),
    appIds === null
      ? `In every app that a target tag is connected to: ${scopesOf(audience)}.`
      : `Only in the apps that were named: ${scopesOf(audience)}.`,
    `${devices} devices, each once.`,
  ];
}

const namesOf = ({ ids, sourceIds }: TagReferences): readonly TagReference[] => [
  ...new Set([...ids, ...sourceIds]),
];

function listOf(names: readonly TagReference[], word: 'and' | 'or'): string {
  const shown = names.slice(0, NAMED_MAX).map((name) => `tag ${JSON.stringify(name)}`);
  const more = names.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`${more} more`])].join(` ${word} `);
}

const scopesOf = (scopes: readonly { readonly appId: number; readonly platformId: number }[]) =>
  scopes.length === 0
    ? 'the client has none'
    : scopes.map(({ appId, platformId }) => `app ${appId} on platform ${platformId}`).join(', ');
