/** Finds a tag or a group by its name on the command line. */

import type { Tag, TagGroup } from '../../../packages/client/src/openapi.ts';
import { UsageError } from '../arguments.ts';
import type { Session } from './publisher-command.ts';
import { readName } from './tag-names.ts';

/** Refuses a name that no tag of the client has. */
export async function findTag({ tagcast, signal }: Session, name: string): Promise<Tag> {
  const { id, sourceId } = readName(name);
  if (id !== undefined) {
    const path = '/push-admin-api/v3/{client}/tags/{id}';
    return (await tagcast.request('GET', path, { path: { id }, signal })).body;
  }
  const { body } = await tagcast.request('GET', '/push-admin-api/v3/{client}/tags', {
    query: { sourceId },
    signal,
  });
  return body[0] ?? refuse('tag', sourceId);
}

/** A client has few groups: the list has no filter by source id. */
export async function findGroup({ tagcast, signal }: Session, name: string): Promise<TagGroup> {
  const { id, sourceId } = readName(name);
  if (id !== undefined) {
    const path = '/push-admin-api/v3/{client}/groups/{id}';
    return (await tagcast.request('GET', path, { path: { id }, signal })).body;
  }
  for await (const group of tagcast.rows('/push-admin-api/v3/{client}/groups', { signal })) {
    if (group.sourceId === sourceId) return group;
  }
  return refuse('group', sourceId);
}

function refuse(what: string, sourceId: string): never {
  throw new UsageError(
    `There is no ${what} with the source id ${sourceId}; by its id a ${what} is named as '#7'.`,
  );
}
