/** `tagcast policy …`: categories of pushes, and how many of them a device may get. */

import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import type { Policies, PoliciesRequest } from '../../../packages/client/src/openapi.ts';
import { parseObject } from '../../../packages/std/src/json.ts';
import { tableRow } from '../../std/visible-text.ts';
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
            outcomeOf((await tagcast.request('GET', POLICIES, { signal })).body),
      ),
      set: verb(
        {
          summary: 'Sets all policies, from a file of JSON; - is standard input.',
          arguments: ['file'],
        },
        async ({ file }): Promise<Work> => {
          const body = await readPolicies(file);
          return async ({ tagcast, signal }) =>
            outcomeOf((await tagcast.request('PUT', POLICIES, { body, signal })).body);
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

const outcomeOf = (policies: Policies): Outcome => ({
  value: policies,
  text: [`Time zone: ${policies.timezone}`, ...describe(policies)].join('\n'),
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
