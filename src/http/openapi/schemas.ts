/** JSON Schemas of the OpenAPI document, from zod's. */

import { z } from 'zod';
import type { Json } from './operation.ts';

/** Turns zod's schemas into JSON Schemas; those with an id become components. */
export class Schemas {
  readonly named: Record<string, unknown> = {};

  of(schema: z.ZodType): Json {
    // Within another one, so that a schema with an id is a reference here, too.
    const made = z.toJSONSchema(z.object({ it: schema }), {
      io: 'input',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => tidy(jsonSchema),
    });
    const { $defs = {}, properties } = JSON.parse(
      JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/'),
    ) as { readonly $defs?: Json; readonly properties: { readonly it: Json } };
    Object.assign(this.named, $defs);
    return properties.it;
  }
}

/** Takes away what is true of every whole number and every name. */
function tidy(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) Reflect.deleteProperty(schema, 'minimum');
  if (schema.maximum === Number.MAX_SAFE_INTEGER) Reflect.deleteProperty(schema, 'maximum');
  const { propertyNames } = schema;
  if (typeof propertyNames === 'object' && Object.keys(propertyNames).join() === 'type') {
    Reflect.deleteProperty(schema, 'propertyNames');
  }
}
