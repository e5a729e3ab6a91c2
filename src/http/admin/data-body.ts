/**
 * The body of the published Admin API: JSON, or, as connectors send it, JSON in the part `data` of
 * a `multipart/form-data` (facts/upstream.md, section 4).
 */

import type { z } from 'zod';
import type { HttpRequest } from '../handler.ts';
import type { Read } from '../json-body.ts';
import { invalid, readJsonBody } from '../json-body.ts';
import { isMultipart, readOnlyPart } from '../multipart.ts';

/** Reads it in the given form. */
export function readDataBody<T>(request: HttpRequest, form: z.ZodType<T>): Read<T> {
  const contentType = request.header('content-type');
  if (!isMultipart(contentType)) return readJsonBody(request, form);
  const part = readOnlyPart(contentType, request.body, 'data');
  return part.ok
    ? readJsonBody(request, form, part.body)
    : { ok: false, response: invalid(request, [{ path: '', message: part.why }]) };
}
