/** Bodies that the document describes and that read themselves, by the same form. */

import type { z } from 'zod';
import type { HttpRequest } from './handler.ts';
import { readForm } from './json-body.ts';
import type { Content, Operation } from './openapi/operation.ts';
import type { Result } from './result.ts';

export interface Body<Form> extends NonNullable<Operation['body']> {
  read(request: HttpRequest): Result<Form>;
}

/** JSON. `isKept`: whether the number at a path is kept or passed on; absent: it is only read. */
export const form = <Form>(
  schema: z.ZodType<Form>,
  example: Content['example'],
  isKept?: (path: readonly (string | number)[]) => boolean,
): Body<Form> => ({
  schema,
  example,
  read: ({ body }) => readForm(body, schema, isKept),
});
