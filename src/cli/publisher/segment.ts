/** `tagcast segment …`: named expressions that pushes use as `$name`. */

import type { Segment } from '../../../packages/client/src/openapi.ts';
import { counted } from '../../std/counted.ts';
import { tableRow, visibleField } from '../../std/visible-text.ts';
import { UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { verb } from '../command.ts';
import { NONE, orNull } from './none.ts';
import type { Outcome, PublisherContext, Session, Work } from './publisher-command.ts';
import { publisherCommand } from './publisher-command.ts';

const DESCRIPTION = {
  type: 'string',
  value: 'text',
  about: `what it is for; ${NONE}: none`,
} as const;

const SEGMENTS = '/push-admin-api/v3/{client}/segments';
const ONE = '/push-admin-api/v3/{client}/segments/{name}';
const ESTIMATE = '/push-admin-api/v3/{client}/segments/{name}/estimate';

export const segmentCommand = (context: PublisherContext): Command =>
  publisherCommand(context, {
    name: 'segment',
    notes: "A push names a segment as '$name' in its --audience.",
    verbs: {
      list: verb({ summary: 'Lists the segments.' }, (): Work => list),
      show: verb(
        { summary: 'Shows one segment.', arguments: ['name'] },
        ({ name }): Work =>
          async ({ tagcast, signal }) =>
            outcomeOf((await tagcast.request('GET', ONE, { path: { name }, signal })).body),
      ),
      add: verb(
        {
          summary: 'Adds a segment.',
          arguments: ['name', 'expression'],
          flags: { description: DESCRIPTION },
        },
        ({ name, expression }, { description }): Work =>
          async ({ tagcast, signal }) => {
            const body = { name, expression, ...descriptionField(description) };
            return outcomeOf((await tagcast.request('POST', SEGMENTS, { body, signal })).body);
          },
      ),
      update: verb(
        {
          summary: 'Changes a segment; what is not given stays, and so do accepted pushes.',
          arguments: ['name'],
          flags: {
            expression: { type: 'string', about: 'its expression' },
            description: DESCRIPTION,
          },
        },
        ({ name }, { expression, description }) => {
          const body = {
            ...(expression === undefined ? {} : { expression }),
            ...descriptionField(description),
          };
          if (Object.keys(body).length === 0) throw new UsageError('nothing to change was given');
          return async ({ tagcast, signal }: Session) =>
            outcomeOf((await tagcast.request('PATCH', ONE, { path: { name }, body, signal })).body);
        },
      ),
      delete: verb(
        { summary: 'Deletes a segment that no other one names.', arguments: ['name'] },
        ({ name }): Work =>
          async ({ tagcast, signal }) => {
            await tagcast.request('DELETE', ONE, { path: { name }, signal });
            return {
              value: { deleted: name },
              text: `Segment ${visibleField(name)} is deleted.`,
            };
          },
      ),
      estimate: verb(
        { summary: 'Counts the devices of a segment.', arguments: ['name'] },
        ({ name }): Work =>
          (session) =>
            estimate(session, name),
      ),
    },
  });

async function list({ tagcast, signal }: Session): Promise<Outcome> {
  const { body: segments } = await tagcast.request('GET', SEGMENTS, { signal });
  return {
    value: segments,
    text: segments.length === 0 ? 'There is no segment.' : segments.map(describe).join('\n'),
  };
}

async function estimate({ tagcast, signal }: Session, name: string): Promise<Outcome> {
  const { body } = await tagcast.request('POST', ESTIMATE, { path: { name }, signal });
  const scopes = body.audience.map(({ appId, platformId, count }) =>
    tableRow(`app ${appId}`, `platform ${platformId}`, counted(count, 'device')),
  );
  return { value: body, text: [...body.plan.map(visibleField), ...scopes].join('\n') };
}

const descriptionField = (description: string | undefined) =>
  description === undefined ? {} : { description: orNull(description) };

const outcomeOf = (segment: Segment): Outcome => ({ value: segment, text: describe(segment) });

const describe = ({ name, expression, description }: Segment): string =>
  tableRow(name, expression, ...(description === null ? [] : [description]));
