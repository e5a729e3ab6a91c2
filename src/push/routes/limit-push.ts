/** Holds a push to the limits of its caller's key: tags, tag groups and apps. */

import { findAttributes } from '../../attributes/find-attributes.ts';
import { findCoveredTags } from '../../catalogue/covered-tags.ts';
import type { Sql } from '../../database/sql.ts';
import { operandsOf, requires, testsOf } from '../../domain/audience-expression.ts';
import type { Caller, KeyRights } from '../../domain/caller.ts';
import { limitsTags } from '../../domain/caller.ts';
import { isId } from '../../domain/tag.ts';
import type { Push, TagReferences } from '../accept/push.ts';

/** A push within the limits of its caller, or a sentence that says why not. */
type LimitedPush =
  | { readonly ok: true; readonly push: Push }
  | { readonly ok: false; readonly why: string };

/** Without `appIds`: every app that its key may address. A limit that is gone covers nothing. */
export async function limitPush(sql: Sql, caller: Caller, push: Push): Promise<LimitedPush> {
  const { key } = caller;
  if (key === undefined) return { ok: true, push };
  if (limitsTags(key) && !(await coversAudience(sql, caller.clientId, key, push))) {
    return {
      ok: false,
      why: 'This key is for some tags only: every target tag, or one of the filter tags, must be one of them; of an expression, each alternative must require one of them.',
    };
  }
  const mayTest = key.scopes.includes('personal');
  const personal = mayTest ? null : await personalNamed(sql, caller.clientId, push);
  if (personal !== null) {
    return {
      ok: false,
      why: `@${personal} is personal: only a key with the scope personal may test it.`,
    };
  }
  return limitApps(key, push);
}

/** Holds a push to the apps of its caller's key. */
export function limitApps({ appIds }: Pick<KeyRights, 'appIds'>, push: Push): LimitedPush {
  if (appIds === null) return { ok: true, push };
  if (appIds.length === 0) return { ok: false, why: 'The apps that this key is for are gone.' };
  if (push.appIds?.some((appId) => !appIds.includes(appId))) {
    return { ok: false, why: `This key is for the apps ${appIds.join(', ')} only.` };
  }
  return { ok: true, push: { ...push, appLimit: appIds } };
}

/** An attribute of the push that is personal; null: it has none. */
async function personalNamed(
  sql: Sql,
  clientId: number,
  { expression }: Push,
): Promise<string | null> {
  const tests = expression === undefined ? [] : testsOf(expression.root);
  if (tests.length === 0) return null;
  const attributes = await findAttributes(sql, clientId);
  const personal = new Set(attributes.flatMap((one) => (one.isPersonal ? one.name : [])));
  return tests.find(({ test }) => personal.has(test.name))?.test.name ?? null;
}

/**
 * Whether every device that gets the push has one of the key's tags: each target tag is one of
 * them, or one of the filter tags is; of an expression, each alternative requires one. An unknown
 * name is none of them: another tag may get it before the push is due.
 */
async function coversAudience(
  sql: Sql,
  clientId: number,
  key: KeyRights,
  { target, filter, expression }: Push,
): Promise<boolean> {
  const namesOf = ({ ids, sourceIds }: TagReferences) => [...ids, ...sourceIds];
  const named =
    expression === undefined
      ? [...namesOf(target), ...namesOf(filter)]
      : operandsOf(expression.root).map(({ reference }) => reference);
  const covered = await findCoveredTags(sql, clientId, key, {
    ids: named.filter(isId),
    sourceIds: named.filter((name) => typeof name === 'string'),
  });
  const names = new Set<number | string | null>(
    covered.flatMap(({ id, sourceId }) => [id, sourceId]),
  );
  if (expression !== undefined) {
    return requires(expression.root, ({ reference }) => names.has(reference));
  }
  return (
    namesOf(target).every((name) => names.has(name)) ||
    namesOf(filter).some((name) => names.has(name))
  );
}
