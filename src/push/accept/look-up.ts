/** Looks up the tags that a client's pushes name, and its scopes, for all of them at once. */

import { findAttributes } from '../../attributes/find-attributes.ts';
import type { ReferencedTag } from '../../catalogue/find-referenced-tags.ts';
import { findReferencedTags } from '../../catalogue/find-referenced-tags.ts';
import type { Sql } from '../../database/sql.ts';
import type { Attribute } from '../../domain/attributes.ts';
import { operandsOf, testsOf } from '../../domain/audience-expression.ts';
import { SELECTOR_NAMES } from '../../domain/notification.ts';
import { isId } from '../../domain/tag.ts';
import type { ClientScope } from '../sql/notifications/list-scopes.ts';
import { listScopes } from '../sql/notifications/list-scopes.ts';
import type { Push, TagReferences } from './push.ts';

export interface Known {
  readonly tags: readonly ReferencedTag[];
  readonly scopes: readonly ClientScope[];
  /** Those that the client has declared, by name. Absent: its push tests none. */
  readonly attributes?: ReadonlyMap<string, Attribute>;
}

/** Looks up a client's pushes: one result for each, in order. */
export async function lookUp(
  sql: Sql,
  clientId: number,
  pushes: readonly Push[],
): Promise<readonly Known[]> {
  const namings = pushes.map(namesOf);
  const [found, scopes, attributes] = await Promise.all([
    findReferencedTags(sql, clientId, {
      ids: namings.flatMap(({ ids }) => ids),
      sourceIds: namings.flatMap(({ sourceIds }) => sourceIds),
    }),
    listScopes(sql, clientId),
    pushes.some(testsAny) ? findAttributes(sql, clientId) : [],
  ]);
  const byName = new Map(attributes.map((attribute) => [attribute.name, attribute]));
  const byId = new Map(found.map((tag) => [tag.id, tag]));
  const bySourceId = new Map(found.map((tag) => [tag.sourceId, tag]));
  return namings.map(({ ids, sourceIds }, place) => {
    const named = [
      ...ids.map((id) => byId.get(id)),
      ...sourceIds.map((sourceId) => bySourceId.get(sourceId)),
    ];
    const push = pushes[place];
    return {
      tags: [...new Set(named.flatMap((tag) => tag ?? []))],
      scopes,
      ...(push !== undefined && testsAny(push) ? { attributes: byName } : {}),
    };
  });
}

/** Whether it tests attributes: who tests none has none looked up. */
const testsAny = ({ expression }: Push): boolean =>
  expression !== undefined && testsOf(expression.root).length > 0;

/** How many tags a push names, and so adds to the look-up. */
export const namesIn = (push: Push): number => {
  const { ids, sourceIds } = namesOf(push);
  return ids.length + sourceIds.length;
};

function namesOf(push: Push): TagReferences {
  const named = SELECTOR_NAMES.map((selector) => push[selector]);
  const operands = push.expression === undefined ? [] : operandsOf(push.expression.root);
  const references = operands.map(({ reference }) => reference);
  return {
    ids: [...named.flatMap(({ ids }) => ids), ...references].filter(isId),
    sourceIds: [
      ...named.flatMap(({ sourceIds }) => sourceIds),
      ...references.filter((reference) => typeof reference === 'string'),
    ],
  };
}
