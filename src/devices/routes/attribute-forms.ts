/** The attributes of a device as fields of requests and answers, for forms and the document. */

import { z } from 'zod';
import { eachAttribute, isAttribute } from '../../domain/device-attributes.ts';
import { orAbsent } from '../../http/openapi/parts.ts';

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
