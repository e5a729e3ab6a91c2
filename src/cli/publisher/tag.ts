/** `tagcast tag …`: the tags of a client. */

import type { Tag } from '../../../packages/client/src/openapi.ts';
import { tableRow, visibleField } from '../../std/visible-text.ts';
import { readNumber, readTime, UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { verb } from '../command.ts';
import { findGroup, findTag } from './find-named.ts';
import { NONE } from './none.ts';
import type { Outcome, PublisherContext, Session, Work } from './publisher-command.ts';
import { publisherCommand } from './publisher-command.ts';
import { readApps } from './read-apps.ts';
import { NAME_NOTES } from './tag-names.ts';

const FLAGS = {
  'source-id': { type: 'string', value: 'text', about: 'what your own system calls it' },
  group: { type: 'string', value: 'group', about: `the group that it is in; ${NONE}: in none` },
  expires: {
    type: 'string',
    value: 'time',
    about: `when it ends, as 2027-01-01T12:00:00Z; ${NONE}: never`,
  },
  app: {
    type: 'string',
    multiple: true,
    value: 'app',
    about: `an app that it is for; ${NONE}: for every app`,
  },
} as const;

const TAGS = '/push-admin-api/v3/{client}/tags';
const ONE = '/push-admin-api/v3/{client}/tags/{id}';

export const tagCommand = (context: PublisherContext): Command =>
  publisherCommand(context, {
    name: 'tag',
    notes: NAME_NOTES,
    verbs: {
      list: verb(
        {
          summary: 'Lists the tags.',
          flags: {
            search: { type: 'string', about: 'only with this in the name or the source id' },
            group: { type: 'string', value: 'group', about: 'only directly in this group' },
            app: { type: 'string', value: 'app', about: 'only for this app' },
          },
        },
        (_, { search: q, group, app }) => {
          const appId = app === undefined ? undefined : readNumber('--app', app);
          return (session) => list(session, q, group, appId);
        },
      ),
      show: verb(
        { summary: 'Shows one tag.', arguments: ['tag'], notes: NAME_NOTES },
        ({ tag }): Work =>
          async (session) =>
            told(await findTag(session, tag)),
      ),
      add: verb(
        { summary: 'Adds a tag.', arguments: ['name'], flags: FLAGS, notes: NAME_NOTES },
        ({ name }, flags) => {
          const fields = readFields(flags);
          return async (session) => {
            const body = { name, ...fields, ...(await groupField(session, flags.group)) };
            const { signal } = session;
            return told((await session.tagcast.request('POST', TAGS, { body, signal })).body);
          };
        },
      ),
      update: verb(
        {
          summary: 'Changes a tag; what is not given stays.',
          arguments: ['tag'],
          flags: { name: { type: 'string', about: 'its name' }, ...FLAGS },
          notes: NAME_NOTES,
        },
        ({ tag }, { name, ...flags }) => {
          const fields = { ...(name === undefined ? {} : { name }), ...readFields(flags) };
          return (session) => update(session, tag, fields, flags.group);
        },
      ),
      delete: verb(
        { summary: 'Deletes a tag, for good.', arguments: ['tag'], notes: NAME_NOTES },
        ({ tag }): Work =>
          async (session) => {
            const { id, name } = await findTag(session, tag);
            const { signal } = session;
            await session.tagcast.request('DELETE', ONE, { path: { id }, signal });
            return { value: { deleted: id }, text: `Tag #${id} ${visibleField(name)} is deleted.` };
          },
      ),
    },
  });

async function list(
  session: Session,
  q: string | undefined,
  group: string | undefined,
  appId: number | undefined,
): Promise<Outcome> {
  const { tagcast, signal } = session;
  const query = {
    ...(q === undefined ? {} : { q }),
    ...(group === undefined ? {} : { groupId: (await findGroup(session, group)).id }),
    ...(appId === undefined ? {} : { appId }),
  };
  const rows: Tag[] = [];
  for await (const tag of tagcast.rows(TAGS, { query, signal })) rows.push(tag);
  return {
    value: rows,
    text: rows.length === 0 ? 'There is no tag.' : rows.map(describe).join('\n'),
  };
}

async function update(
  session: Session,
  name: string,
  fields: object,
  group: string | undefined,
): Promise<Outcome> {
  const body = { ...fields, ...(await groupField(session, group)) };
  if (Object.keys(body).length === 0) throw new UsageError('nothing to change was given');
  const { id } = await findTag(session, name);
  const { tagcast, signal } = session;
  return told((await tagcast.request('PATCH', ONE, { path: { id }, body, signal })).body);
}

function readFields(flags: {
  readonly 'source-id'?: string | undefined;
  readonly expires?: string | undefined;
  readonly app?: readonly string[] | undefined;
}) {
  const { 'source-id': sourceId, expires, app } = flags;
  return {
    ...(sourceId === undefined ? {} : { sourceId }),
    ...(expires === undefined
      ? {}
      : { expiration: expires === NONE ? null : readTime('--expires', expires) }),
    ...(app === undefined ? {} : { appIds: readApps(app) }),
  };
}

async function groupField(session: Session, group: string | undefined) {
  if (group === undefined) return {};
  return { groupId: group === NONE ? null : (await findGroup(session, group)).id };
}

const told = (tag: Tag): Outcome => ({ value: tag, text: describe(tag) });

const describe = ({ id, name, sourceId, groupId, expiration, appIds }: Tag): string =>
  tableRow(
    `#${id}`,
    sourceId ?? '–',
    name,
    ...(groupId === undefined ? [] : [`group #${groupId}`]),
    ...(expiration === undefined ? [] : [`until ${new Date(expiration).toISOString()}`]),
    ...(appIds === undefined ? [] : [`app ${appIds.join(', ')}`]),
  );
