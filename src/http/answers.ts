/**
 * The answers that are no problems write themselves by their schemas: a field without a schema is
 * left out, and a wrong value is an error.
 */

import { z } from 'zod';
import type { HttpRequest, HttpResponse } from './handler.ts';
import { json } from './json-body.ts';
import type { Rows } from './list-answer.ts';
import type { Answer } from './openapi/operation.ts';
import { jsonAnswer, LINK, noContent as nothing } from './openapi/parts.ts';

export interface Described<Value> extends Answer {
  readonly status: number;
  write(value: Value, request: HttpRequest): HttpResponse | Promise<HttpResponse>;
}

type Seen<Value> = Value extends object
  ? { readonly [Name in keyof Value]: Seen<Value[Name]> }
  : Value;

/** A value as its schema writes it. */
export const encode = <Schema extends z.ZodType>(schema: Schema, value: Seen<z.output<Schema>>) =>
  z.encode(schema, value as z.output<Schema>);

const answered =
  (status: number) =>
  <Schema extends z.ZodType>(
    description: string,
    schema: Schema,
    example: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Described<Seen<z.output<Schema>>> => ({
    ...jsonAnswer(description, schema, example, headers),
    status,
    write: (value) => ({ ...json(encode(schema, value)), status }),
  });

export const shown = answered(200);
export const created = answered(201);
export const accepted = answered(202);

export const noContent = (description: string): Described<null> => ({
  ...nothing(description),
  status: 204,
  write: () => ({ status: 204, body: '' }),
});

export const listed = <Schema extends z.ZodType>(
  description: string,
  row: Schema,
  example: readonly unknown[],
): Described<Rows<Seen<z.output<Schema>>>> => ({
  ...jsonAnswer(description, z.array(row), example, LINK),
  status: 200,
  write: (rows, request) => rows(request, (value) => encode(row, value)),
});

/** An answer for its caller only: no cache may store it. */
export const secret = <Value>(answer: Described<Value>): Described<Value> => ({
  ...answer,
  async write(value, request) {
    const written = await answer.write(value, request);
    return { ...written, headers: { ...written.headers, 'Cache-Control': 'no-store' } };
  },
});
