/** The attributes of a device as fields of requests and answers, for forms and the document. */

import { z } from 'zod';
import { eachAttribute, isAttribute } from '../../domain/device-attributes.ts';
import { count, epochMs, orAbsent } from '../../http/openapi/parts.ts';

/** The fields of a request. null, or absent: not known. */
export const attributeFields = eachAttribute((name, { lengthMax, description }) => {
  const fault = `must be a string of ${lengthMax} characters at most`;
  return z
    .string('must be a string')
    .max(lengthMax, fault)
    .refine((value) => isAttribute(name, value), fault)
    .nullish()
    .meta({ description });
});

/** The fields of an answer: absent where they are not known. */
export const knownAttributeFields = eachAttribute(() => orAbsent(z.string()));

/** The attributes of a device in an answer, by their names. */
export const attributeValues = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .meta({
    description:
      'Built-in and declared attributes with their values, in the form in which they are kept; of the type `time` as `2027-03-01T10:30Z`.',
  });

/** Further fields of an answer: what became of a device since it registered. */
export const knownFactFields = {
  firstRegisteredOn: orAbsent(
    z.string().meta({
      description:
        'The day of its first registration, in UTC: `2026-11-28`. Of an imported device it is not known.',
    }),
  ),
  unsubscribedAt: orAbsent(epochMs),
  refusals: count.meta({
    description: 'Sends that refused the token since it was last taken or registered.',
  }),
  refusedAt: orAbsent(epochMs.meta({ description: 'The last of them.' })),
  environment: orAbsent(
    z.string().meta({
      description: 'On iOS: where its provider took it, when that is not where it is asked first.',
    }),
  ),
};
