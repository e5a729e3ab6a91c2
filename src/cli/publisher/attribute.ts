/** `tagcast attribute …`: the attributes of devices, which expressions test as `@name`. */

import type { RequestOf } from '../../../packages/client/src/client.ts';
import type { Attribute } from '../../../packages/client/src/openapi.ts';
import { ATTRIBUTE_TYPES, SETTERS } from '../../domain/attributes.ts';
import { tableRow, visibleField } from '../../std/visible-text.ts';
import { UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { verb } from '../command.ts';
import { NONE, orNull } from './none.ts';
import type { Outcome, PublisherContext, Session, Work } from './publisher-command.ts';
import { publisherCommand } from './publisher-command.ts';
import { readApps } from './read-apps.ts';

const YES = 'yes';
const NO = 'no';

const FLAGS = {
  'set-by': {
    type: 'string',
    value: 'who',
    choices: SETTERS,
    about: 'who may set it: the app, your servers, or both',
  },
  app: {
    type: 'string',
    multiple: true,
    value: 'app',
    about: `an app whose devices have it; ${NONE}: every app's`,
  },
  personal: {
    type: 'string',
    value: `${YES}|${NO}`,
    choices: [YES, NO],
    about: 'its values are in no list, log or webhook',
  },
  description: { type: 'string', value: 'text', about: `what it says; ${NONE}: nothing` },
} as const;

const ATTRIBUTES = '/push-admin-api/v3/{client}/attributes';
const ONE = '/push-admin-api/v3/{client}/attributes/{name}';
type NewAttribute = RequestOf<'POST', typeof ATTRIBUTES>['body'];

const VALUES = '/push-admin-api/v3/{client}/attributes/{name}/values';

export const attributeCommand = (context: PublisherContext): Command =>
  publisherCommand(context, {
    name: 'attribute',
    verbs: {
      list: verb({ summary: 'Lists the attributes of devices.' }, (): Work => list),
      add: verb(
        {
          summary: 'Declares an attribute.',
          arguments: ['name', { name: 'type', choices: ATTRIBUTE_TYPES }],
          flags: FLAGS,
        },
        ({ name, type }, flags) => {
          const body = { name, type: type as NewAttribute['type'], ...readFields(flags) };
          return async ({ tagcast, signal }: Session) =>
            outcomeOf((await tagcast.request('POST', ATTRIBUTES, { body, signal })).body);
        },
      ),
      update: verb(
        {
          summary: 'Changes an attribute; what is not given stays.',
          arguments: ['name'],
          flags: FLAGS,
        },
        ({ name }, flags) => {
          const body = readFields(flags);
          if (Object.keys(body).length === 0) throw new UsageError('nothing to change was given');
          return async ({ tagcast, signal }: Session) =>
            outcomeOf((await tagcast.request('PATCH', ONE, { path: { name }, body, signal })).body);
        },
      ),
      delete: verb(
        { summary: 'Deletes an attribute, and its values of all devices.', arguments: ['name'] },
        ({ name }): Work =>
          async ({ tagcast, signal }) => {
            await tagcast.request('DELETE', ONE, { path: { name }, signal });
            return {
              value: { deleted: name },
              text: `Attribute ${visibleField(name)} is deleted.`,
            };
          },
      ),
      values: verb(
        {
          summary: 'Lists its values, and how many devices have each.',
          arguments: ['name'],
          flags: { search: { type: 'string', about: 'only with this in the value' } },
        },
        ({ name }, { search }): Work =>
          (session) =>
            values(session, name, search),
      ),
    },
  });

async function list({ tagcast, signal }: Session): Promise<Outcome> {
  const { body } = await tagcast.request('GET', ATTRIBUTES, { signal });
  return { value: body, text: body.map(describe).join('\n') };
}

async function values(
  { tagcast, signal }: Session,
  name: string,
  q: string | undefined,
): Promise<Outcome> {
  const query = q === undefined ? {} : { q };
  const rows = [];
  for await (const row of tagcast.rows(VALUES, { path: { name }, query, signal })) rows.push(row);
  const lines = rows.map(({ value, devices }) => tableRow(value, String(devices)));
  return { value: rows, text: rows.length === 0 ? 'No device has a value.' : lines.join('\n') };
}

function readFields(flags: {
  readonly 'set-by'?: string | undefined;
  readonly app?: readonly string[] | undefined;
  readonly personal?: string | undefined;
  readonly description?: string | undefined;
}) {
  const { 'set-by': setBy, app, personal, description } = flags;
  return {
    ...(setBy === undefined ? {} : { setBy: setBy as NonNullable<NewAttribute['setBy']> }),
    ...(app === undefined ? {} : { appIds: readApps(app) as number[] | null }),
    ...(personal === undefined ? {} : { personal: personal === YES }),
    ...(description === undefined ? {} : { description: orNull(description) }),
  };
}

const outcomeOf = (attribute: Attribute): Outcome => ({
  value: attribute,
  text: describe(attribute),
});

const describe = ({ name, type, setBy, appIds, personal, ...more }: Attribute): string =>
  tableRow(
    name,
    type,
    `set by ${setBy}`,
    ...(appIds === undefined ? [] : [`app ${appIds.join(', ')}`]),
    ...(personal ? ['personal'] : []),
    ...(more.isBuiltIn ? ['built in'] : []),
    ...(more.description === undefined ? [] : [more.description]),
  );
