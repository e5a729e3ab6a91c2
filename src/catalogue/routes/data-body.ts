/**
 * The body of the published Admin API: JSON, or, as connectors send it, JSON in the part `data` of
 * a `multipart/form-data` (internals/existing-clients.md, "Admin API").
 */

import type { z } from 'zod';
import type { Body } from '../../http/form-body.ts';
import { readForm } from '../../http/json-body.ts';
import { isMultipart, readOnlyPart } from '../../http/multipart.ts';
import { refuse } from '../../http/result.ts';

/** Parameters of apps are kept as they are given. */
export const dataForm = <Form>(schema: z.ZodType<Form>, example: unknown): Body<Form> => ({
  schema,
  example,
  isAlsoMultipart: true,
  read(request) {
    const contentType = request.header('content-type');
    if (!isMultipart(contentType)) return readForm(request.body, schema, isKept);
    const part = readOnlyPart(contentType, request.body, 'data');
    return part.ok
      ? readForm(part.body, schema, isKept)
      : refuse.invalid([{ path: '', message: part.why }]);
  },
});

const isKept = ([field]: readonly (string | number)[]): boolean => field === 'parameters';
