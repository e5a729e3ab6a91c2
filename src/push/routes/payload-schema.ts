/** A payload as the OpenAPI document describes it. */

import { z } from 'zod';
import { payloadFields } from '../../domain/payload.ts';
import { PAYLOAD_DESCRIPTION, PAYLOAD_MEANINGS } from '../../providers/payload-description.ts';

const meant = Object.entries(payloadFields.shape).map(([name, schema]) => [
  name,
  schema.meta({ description: PAYLOAD_MEANINGS[name as keyof typeof PAYLOAD_MEANINGS] }),
]);

const payload = z
  .looseObject({
    ...Object.fromEntries(meant),
    body: z.string().optional().meta({ description: 'Another name of `message`.' }),
  })
  .meta({ id: 'Payload', description: PAYLOAD_DESCRIPTION });

export const payloadOrText = z.union([payload, z.looseObject({}), z.string()]).meta({
  description:
    'A payload; one with texts in several languages; or, where each app and platform of the push has a template that makes a payload of it, any object. Each also as a string that holds JSON.',
});
