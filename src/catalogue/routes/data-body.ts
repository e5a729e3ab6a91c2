/**
 * The body of the published Admin API: JSON, or, as connectors send it, JSON in the part `data` of
 * a `multipart/form-data` (internals/existing-clients.md, "Admin API").
 */

import type { z } from 'zod';
import type { HttpRequest } from '../../http/handler.ts';
import type { Read } from '../../http/json-body.ts';
import { invalid, readJsonBody } from '../../http/json-body.ts';
import { isMultipart, readOnlyPart } from '../../http/multipart.ts';

/** Reads it in the given form. Parameters of apps are kept as they are given. */
export function readDataBody<T>(request: HttpRequest, form: z.ZodType<T>): Read<T> {
  const contentType = request.header('content-type');
  if (!isMultipart(contentType)) return readJsonBody(request, form, { isKept });
  const part = readOnlyPart(contentType, request.body, 'data');
  return part.ok
    ? readJsonBody(request, form, { body: part.body, isKept })
    : { ok: false, response: invalid(request, [{ path: '', message: part.why }]) };
}

const isKept = ([field]: readonly (string | number)[]): boolean => field === 'parameters';
