/** `tagcast group …`: the groups that tags are in. */

import type { TagGroup } from '../../../packages/client/src/openapi.ts';
import { tableRow, visibleField } from '../../std/visible-text.ts';
import { UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { verb } from '../command.ts';
import { findGroup } from './find-named.ts';
import { NONE } from './none.ts';
import type { Outcome, PublisherContext, Session, Work } from './publisher-command.ts';
import { publisherCommand } from './publisher-command.ts';
import { NAME_NOTES } from './tag-names.ts';

const FLAGS = {
  'source-id': { type: 'string', value: 'text', about: 'what your own system calls it' },
  parent: { type: 'string', value: 'group', about: `the group that it is in; ${NONE}: in none` },
} as const;

const GROUPS = '/push-admin-api/v3/{client}/groups';
const ONE = '/push-admin-api/v3/{client}/groups/{id}';

export const groupCommand = (context: PublisherContext): Command =>
  publisherCommand(context, {
    name: 'group',
    notes: NAME_NOTES,
    verbs: {
      list: verb({ summary: 'Lists the groups.' }, (): Work => list),
      add: verb(
        { summary: 'Adds a group.', arguments: ['name'], flags: FLAGS, notes: NAME_NOTES },
        ({ name }, flags): Work =>
          async (session) => {
            const body = { name, ...(await readFields(session, flags)) };
            const { signal } = session;
            return told((await session.tagcast.request('POST', GROUPS, { body, signal })).body);
          },
      ),
      update: verb(
        {
          summary: 'Changes a group; what is not given stays.',
          arguments: ['group'],
          flags: { name: { type: 'string', about: 'its name' }, ...FLAGS },
          notes: NAME_NOTES,
        },
        ({ group }, { name, ...flags }): Work =>
          async (session) => {
            const body = {
              ...(name === undefined ? {} : { name }),
              ...(await readFields(session, flags)),
            };
            if (Object.keys(body).length === 0) throw new UsageError('nothing to change was given');
            const { id } = await findGroup(session, group);
            const { tagcast, signal } = session;
            return told((await tagcast.request('PATCH', ONE, { path: { id }, body, signal })).body);
          },
      ),
      delete: verb(
        { summary: 'Deletes an empty group.', arguments: ['group'], notes: NAME_NOTES },
        ({ group }): Work =>
          async (session) => {
            const { id, name } = await findGroup(session, group);
            const { signal } = session;
            await session.tagcast.request('DELETE', ONE, { path: { id }, signal });
            return {
              value: { deleted: id },
              text: `Group #${id} ${visibleField(name)} is deleted.`,
            };
          },
      ),
    },
  });

async function list({ tagcast, signal }: Session): Promise<Outcome> {
  const rows: TagGroup[] = [];
  for await (const group of tagcast.rows(GROUPS, { signal })) rows.push(group);
  return {
    value: rows,
    text: rows.length === 0 ? 'There is no group.' : rows.map(describe).join('\n'),
  };
}

async function readFields(
  session: Session,
  flags: { readonly 'source-id'?: string | undefined; readonly parent?: string | undefined },
) {
  const { 'source-id': sourceId, parent } = flags;
  return {
    ...(sourceId === undefined ? {} : { sourceId }),
    ...(parent === undefined
      ? {}
      : { parentId: parent === NONE ? null : (await findGroup(session, parent)).id }),
  };
}

const told = (group: TagGroup): Outcome => ({ value: group, text: describe(group) });

const describe = ({ id, name, sourceId, parentId }: TagGroup): string =>
  tableRow(
    `#${id}`,
    sourceId ?? '–',
    name,
    ...(parentId === undefined ? [] : [`in group #${parentId}`]),
  );
