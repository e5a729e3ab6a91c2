/** `tagcast policy …`: categories of pushes, and how many of them a device may get. */

import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import type { Policies, PoliciesRequest } from '../../../packages/client/src/openapi.ts';
import { parseObject } from '../../../packages/std/src/json.ts';
import { tableRow, visibleField } from '../../std/visible-text.ts';
import { UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { verb } from '../command.ts';
import type { Outcome, PublisherContext, Work } from './publisher-command.ts';
import { publisherCommand } from './publisher-command.ts';

const POLICIES = '/push-admin-api/v3/{client}/policies';

export const policyCommand = (context: PublisherContext): Command =>
  publisherCommand(context, {
    name: 'policy',
    notes: 'A push names its category: tagcast send --category news.',
    verbs: {
      show: verb(
        { summary: 'Shows the policies; --json prints what set takes.' },
        (): Work =>
          async ({ tagcast, signal }) =>
            outcomeOf(await tagcast.request('GET', POLICIES, { signal })),
      ),
      set: verb(
        {
          summary: 'Sets all policies, from a file of JSON; - is standard input.',
          arguments: ['file'],
          flags: {
            'if-match': {
              type: 'string',
              value: 'etag',
              about: 'only if they are still those of this ETag, which show prints',
            },
          },
        },
        async ({ file }, { 'if-match': etag }): Promise<Work> => {
          const body = await readPolicies(file);
          const headers = etag === undefined ? {} : { headers: { 'If-Match': etag } };
          return async ({ tagcast, signal }) =>
            outcomeOf(await tagcast.request('PUT', POLICIES, { body, ...headers, signal }));
        },
      ),
    },
  });

async function readPolicies(file: string): Promise<PoliciesRequest> {
  let text: string;
  try {
    text = file === '-' ? await readText(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${file}`, { cause: error });
  }
  const read = parseObject(text);
  if (read === undefined) throw new UsageError(`${file} does not hold a JSON object`);
  // The engine says what is wrong with it.
  return read as unknown as PoliciesRequest;
}

interface PoliciesAnswer {
  readonly body: Policies;
  readonly headers: Headers;
}

const outcomeOf = ({ body, headers }: PoliciesAnswer): Outcome => ({
  value: body,
  text: [
    `Time zone: ${body.timezone}`,
    ...describe(body),
    `ETag: ${visibleField(headers.get('etag') ?? '')}`,
  ].join('\n'),
});

function describe({ categories }: Policies): readonly string[] {
  if (categories.length === 0) return ['There is no category: no push is held to a cap.'];
  return categories.map(({ name, default: isDefault, caps = [] }) =>
    tableRow(
      name,
      isDefault === true ? 'default' : '–',
      caps.length === 0
        ? 'no cap'
        : caps
            .map(({ max, per, of }) => `${max} in ${per}${of === 'all' ? ' of all pushes' : ''}`)
            .join(', '),
    ),
  );
}
