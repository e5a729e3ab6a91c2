/** Into which group a request puts a tag or a group: by the group's id, its sourceId, or both. */

import type { TagGroup } from '../domain/tag.ts';
import type { FormFault } from '../std/strict-form.ts';
import type { TagGroupTree } from './tag-group-tree.ts';

/** A field that is absent says nothing; null means: into none. */
interface NamedPlace {
  readonly id?: number | null | undefined;
  readonly sourceId?: string | null | undefined;
}

type Place =
  /** Undefined: nothing is said, it stays where it is. */
  | { readonly ok: true; readonly groupId: number | null | undefined }
  | { readonly ok: false; readonly fault: FormFault };

/** `paths`: of the two fields. Both may be given, as in an answer that is sent back. */
export function readPlace(
  tree: TagGroupTree,
  named: NamedPlace,
  paths: { readonly id: string; readonly sourceId: string },
): Place {
  const byId = find(named.id, (id) => tree.byId(id));
  const bySourceId = find(named.sourceId, (sourceId) => tree.bySourceId(sourceId));
  if (byId === 'none') return fault(paths.id, 'names no group');
  if (bySourceId === 'none') return fault(paths.sourceId, 'names no group');
  if (byId !== undefined && bySourceId !== undefined && byId !== bySourceId) {
    return fault(paths.sourceId, `names another group than ${paths.id}; give one of them`);
  }
  return { ok: true, groupId: byId === undefined ? bySourceId : byId };
}

/** The path of a field of an entry; '' is the path of the whole request. */
export const fieldPath = (path: string, field: string): string =>
  path === '' ? field : `${path}.${field}`;

const fault = (path: string, message: string): Place => ({ ok: false, fault: { path, message } });

function find<Name>(
  name: Name | null | undefined,
  look: (name: Name) => TagGroup | undefined,
): number | null | undefined | 'none' {
  if (name === undefined) return undefined;
  if (name === null) return null;
  return look(name)?.id ?? 'none';
}
