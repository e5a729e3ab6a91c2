/** Parameters of paths and queries, which the document describes and which read themselves. */

import { z } from 'zod';
import { isStorable } from '../std/name-text.ts';
import type { Parameter } from './openapi/operation.ts';
import { id, PAGE, time as timeSchema } from './openapi/parts.ts';
import { readId } from './path-id.ts';
import type { QueryReader } from './query-reader.ts';
import type { Refusal } from './result.ts';
import { refuse } from './result.ts';

export interface PathParameter<Value> extends Parameter {
  read(text: string): Value | null;
  /** The answer to it. */
  readonly unknown: Refusal;
}

export interface QueryParameter<Value> extends Parameter {
  /** Collects faults in the reader. */
  read(reader: QueryReader, name: string): Value;
}

/** An id in a path. `of`: what it is the id of; `unknown`: the answer to what is no id. */
export const pathId = (
  of: string,
  example: number,
  unknown: Refusal = refuse.unknown(of),
): PathParameter<number> => ({
  description: `The id of the ${of}.`,
  schema: id,
  example,
  read: readId,
  unknown,
});

/** The slug of a client, in a path of the operator's. Any text that a database takes may be one. */
export const clientId: PathParameter<string> = {
  description: 'The client, by its slug.',
  schema: z.string(),
  example: 'acme',
  read: (text) => (isStorable(text) ? text : null),
  unknown: refuse.unknown('client'),
};

/** How many rows of a list; null: all. */
export const LIMIT: QueryParameter<number | null> = {
  ...PAGE.limit,
  read: (reader) => reader.limit(),
};

export const limitOr = (
  rows: number,
  description = `How many rows. Without it, ${rows}.`,
): QueryParameter<number> => ({
  ...PAGE.limit,
  description,
  read: (reader) => reader.limit() ?? rows,
});

/** A cursor that is made of numbers, as many as `first` has. */
export const cursorFrom = (
  first: readonly number[],
  example: string = PAGE.cursor.example,
): QueryParameter<readonly number[]> => ({
  ...PAGE.cursor,
  example,
  read: (reader) => reader.cursor(first),
});

/** A cursor where ids are UUIDs; null: the first page. */
export const idCursor = (example: string): QueryParameter<string | null> => ({
  ...PAGE.cursor,
  example,
  read: (reader) => reader.idCursor(),
});

/** A cursor that is a text, the key of the last row; null: the first page. */
export const textCursor = (example: string): QueryParameter<string | null> => ({
  ...PAGE.cursor,
  example,
  read: (reader, name) => reader.text(name),
});

/** One of the words. Null: not given. `schema`: where the words have a name in the document. */
export const choice = <const Word extends string>(
  description: string,
  words: readonly Word[],
  example: Word,
  schema: z.ZodType = z.enum(words),
): QueryParameter<Word | null> => ({
  description,
  schema,
  example,
  read: (reader, name) => reader.choice(name, words),
});

/** Not given: false. */
export const flag = (description: string, example: 'true' | 'false'): QueryParameter<boolean> => ({
  description,
  schema: z.enum(['true', 'false']),
  example,
  read: (reader, name) => reader.choice(name, ['true', 'false']) === 'true',
});

export const text = (description: string, example: string): QueryParameter<string | null> => ({
  description,
  schema: z.string(),
  example,
  read: (reader, name) => reader.text(name),
});

export const idOf = (description: string, example: number): QueryParameter<number | null> => ({
  description,
  schema: id,
  example,
  read: (reader, name) => reader.number(name, 1),
});

/** Ids with commas between them. Null: not given. */
export const idsOf = (
  description: string,
  example: string,
  most: number,
): QueryParameter<readonly number[] | null> => ({
  description,
  schema: z.string(),
  example,
  read: (reader, name) => reader.ids(name, most),
});

export const time = (description: string, example: number): QueryParameter<number | null> => ({
  description,
  schema: timeSchema,
  example,
  read: (reader, name) => reader.time(name),
});
