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

const otherForm = z.looseObject({}).meta({
  description: `Or a payload with texts in several languages, or any object, where each app and platform of the push has a template that makes a payload of it.`,
});

export const payloadOrText = z.union([
  payload,
  otherForm,
  z.string().meta({ description: 'Or the same, as a string that holds JSON.' }),
]);
