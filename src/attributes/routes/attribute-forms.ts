/** The form of an attribute in requests and answers. */

import { z } from 'zod';
import {
  ATTRIBUTE_NAME,
  ATTRIBUTE_NAME_LENGTH_MAX,
  ATTRIBUTE_TYPES,
  isReservedName,
  SETTERS,
} from '../../domain/attributes.ts';
import { id as idForm } from '../../http/id-form.ts';
import { epochMs, id, orAbsent, word } from '../../http/openapi/parts.ts';
import { isStorable, STORABLE_FAULT } from '../../std/name-text.ts';
import { measured, strictForm } from '../../std/strict-form.ts';

/** @publisherLimit apps of an attribute → `400` */
const APPS_MAX = 1_000;
/** @publisherLimit characters of the description of an attribute → `400` */
const DESCRIPTION_LENGTH_MAX = 1_000;

const NAME_FAULT = `must be a letter in lower case and then letters, digits or _, ${ATTRIBUTE_NAME_LENGTH_MAX} in all`;

const name = z
  .string('must be a string')
  .regex(ATTRIBUTE_NAME, NAME_FAULT)
  .refine((text) => !isReservedName(text), 'is the name of a built-in attribute');

const TYPE_FAULT = `must be one of ${ATTRIBUTE_TYPES.join(', ')}`;
const type = z.enum(ATTRIBUTE_TYPES, TYPE_FAULT).meta({
  description:
    'Stays as it is. `text`: 1–64 characters, compared as they are. `language`: BCP 47, kept as language, script and region. `zone`: a name of the IANA database, kept as the one of today. `version`: up to four numbers by dots. `integer`: −2,147,483,647 to 2,147,483,647. `time`: ISO 8601 or epoch milliseconds, of 1970 to 2106, kept to the minute. `boolean`.',
});

const terms = {
  setBy: z
    .enum(SETTERS, `must be one of ${SETTERS.join(', ')}`)
    .optional()
    .meta({
      description:
        'Who may set it: the app, the publisher’s servers, or both, which is so where it is absent.',
    }),
  appIds: measured(APPS_MAX, z.array(idForm, 'must be an array').max(APPS_MAX))
    .nullish()
    .meta({ description: 'The apps whose devices have it. null, or absent: all.' }),
  personal: z.boolean('must be true or false').optional().meta({
    description:
      'Its values are in no list, log or webhook, and only a key with the scope `personal` may use it in an audience.',
  }),
  description: z
    .string('must be a string')
    .max(DESCRIPTION_LENGTH_MAX, `must have ${DESCRIPTION_LENGTH_MAX} characters at most`)
    .refine(isStorable, STORABLE_FAULT)
    .nullish(),
};

export const newAttribute = strictForm({ name, type, ...terms });
export const attributeChange = strictForm(terms);

export const attribute = z
  .object({
    name: z.string(),
    type: word(ATTRIBUTE_TYPES),
    setBy: word([...SETTERS, 'engine']).meta({
      description: '`engine`: nobody sets it; the engine knows it of each device.',
    }),
    appIds: orAbsent(z.array(id)),
    personal: z.boolean(),
    description: orAbsent(z.string()),
    isBuiltIn: z.boolean().meta({ description: 'It cannot be changed or deleted.' }),
    createdAt: orAbsent(epochMs),
  })
  .meta({
    id: 'Attribute',
    description:
      'A typed value that devices of the client have, set by `reg` and `set` (`attributes`) or by your servers (`setAttributes`). Declare only what you send by, and ask your readers where the law wants it.',
  });
