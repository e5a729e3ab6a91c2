/** The attributes of imported devices: those that count become facets, the others are named. */

import { z } from 'zod';
import type {
  GivenAttribute,
  GivenAttributes,
  IgnoredAttribute,
} from '../../attributes/given-attributes.ts';
import { ATTRIBUTES_PER_REQUEST_MAX } from '../../domain/attributes.ts';
import type { Result } from '../../http/result.ts';
import { done } from '../../http/result.ts';
import type { WantedFacets } from '../facets.ts';
import { NO_FACETS } from '../facets.ts';
import type { WantedNumbers } from '../numbers.ts';
import { NO_NUMBERS } from '../numbers.ts';
import { ATTRIBUTES_LATER } from './attributes-later.ts';

const value = z.union(
  [z.string(), z.number(), z.boolean(), z.null()],
  'must be a string, a number, true, false or null',
);

export const importedAttributes = z
  .record(z.string(), value, 'must be an object')
  .nullish()
  .meta({
    description: `Their values by their names, of up to ${ATTRIBUTES_PER_REQUEST_MAX} attributes. One that cannot be set is left out, and named in the answer; null says nothing.`,
  });

export const leftOutAttributes = z
  .array(
    z.object({
      name: z.string(),
      reason: z.enum(['invalid', 'full']).meta({
        description:
          '`invalid`: it is not declared, not for this app, or the value is none of its type. `full`: the value is new, and the attribute has as many as it may.',
      }),
    }),
  )
  .meta({ description: 'Attributes of the device that were left out.' });

type LeftOut = z.infer<typeof leftOutAttributes>;

interface DeviceWithAttributes {
  readonly appVersion?: string | null | undefined;
  readonly attributes?: z.infer<typeof importedAttributes>;
}

interface ImportedValues {
  readonly facets: WantedFacets;
  readonly numbers: WantedNumbers;
  readonly leftOut: LeftOut;
}

const NOTHING: ImportedValues = { facets: NO_FACETS, numbers: NO_NUMBERS, leftOut: [] };

/** In the order of the devices. A refusal: some of it can be had a moment later. */
export async function valuesOfImported(
  attributes: GivenAttributes,
  { clientId, appId }: { readonly clientId: number; readonly appId: number },
  devices: readonly DeviceWithAttributes[],
): Promise<Result<readonly ImportedValues[]>> {
  const given = devices.map(givenOf);
  if (given.every((each) => each.length === 0)) return done(devices.map(() => NOTHING));
  const setter = { clientId, appId, by: 'operator' } as const;
  const taken = given.map((each) => each.slice(0, ATTRIBUTES_PER_REQUEST_MAX));
  const resolved = await attributes.resolveEach(setter, taken);
  if (resolved.some(({ ignored }) => ignored.some(isForTheMoment))) return ATTRIBUTES_LATER;
  return done(
    resolved.map(({ facets, numbers, ignored }, at) => ({
      facets: facets.size === 0 ? NO_FACETS : facets,
      numbers: numbers.size === 0 ? NO_NUMBERS : numbers,
      leftOut: [
        ...ignored.map(({ name, reason }) => ({ name, reason: reasonOf(reason) })),
        ...(given[at] ?? []).slice(ATTRIBUTES_PER_REQUEST_MAX).map(surplus),
      ],
    })),
  );
}

const isForTheMoment = ({ reason }: IgnoredAttribute): boolean => reason === 'later';

const reasonOf = (reason: IgnoredAttribute['reason']): LeftOut[number]['reason'] =>
  reason === 'full' ? 'full' : 'invalid';

const surplus = ({ name }: GivenAttribute): LeftOut[number] => ({ name, reason: 'invalid' });

/** `appVersion` of the device counts as an attribute too, as that of a registration. */
function givenOf({ appVersion = null, attributes }: DeviceWithAttributes) {
  const given: GivenAttribute[] = [];
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null) given.push({ name, value });
  }
  if (appVersion !== null && !given.some(({ name }) => name === 'appVersion')) {
    given.unshift({ name: 'appVersion', value: appVersion, isQuiet: true });
  }
  return given;
}
