/** Parts that the descriptions of several operations share. */

import { z } from 'zod';
import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import { NOTIFICATION_STATES } from '../../domain/notification.ts';
import { ID_MAX } from '../../domain/tag.ts';
import { TIME_FAULT } from '../epoch-time.ts';
import { PAGE_ROWS_MAX } from '../query-reader.ts';
import type { Answer, Parameter } from './operation.ts';

export const id = z.int().min(1).max(ID_MAX);
/** An id as callers may also write it. */
export const looseId = z.union([id, z.string().regex(/^\d{1,10}$/)]);
export const count = z.int().min(0);
export const platformId = z
  .int()
  .min(1)
  .meta({
    description: Object.entries(PLATFORMS)
      .map(([name, number]) => `${number}: ${name}`)
      .join(', '),
  });
export const epochMs = z.int().min(0).meta({ description: 'Milliseconds since 1970.' });
/** A time as callers write it. */
export const time = z
  .union([epochMs, z.string()], `${TIME_FAULT}.`)
  .meta({ description: 'ISO 8601 with a time zone, or milliseconds since 1970.' });
export const texts = z.record(z.string(), z.string());

/** For callers that say what they have in `If-None-Match`. */
export const UNCHANGED: Answer = {
  description: 'Unchanged since the ETag of `If-None-Match`.',
  content: {},
};

export const orAbsent = <Schema extends z.ZodType>(schema: Schema) =>
  z.codec(schema.optional(), z.custom<z.output<Schema> | null>(), {
    decode: (value) => (value ?? null) as z.output<Schema> | null,
    encode: (value) => (value ?? undefined) as z.output<Schema> | undefined,
  });

/** A newer node may have written a word that this node does not know: answered as it is. */
export const word = <const Word extends string>(words: readonly Word[]) =>
  z.string().meta({ enum: words }) as z.ZodType<string> as z.ZodType<Word, string>;

export const state = word(NOTIFICATION_STATES).meta({ id: 'NotificationState' });

export const scopeCount = z
  .object({ appId: id, platformId, count })
  .meta({ id: 'ScopeCount', description: 'How many devices of one app on one platform.' });

export const jsonAnswer = (
  description: string,
  schema: z.ZodType,
  example: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({ description, content: { 'application/json': { schema, example } }, headers });

export const noContent = (description: string): Answer => ({ description, content: {} });

export const LINK = {
  Link: 'Where the next page is, as `<…>; rel="next"`; absent on the last page.',
} as const;

export const PAGE = {
  limit: {
    description: 'How many rows. Without it, the list is answered whole.',
    schema: z.int().min(1).max(PAGE_ROWS_MAX),
    example: 100,
  },
  cursor: {
    description: 'Where the page begins: a cursor that the `Link` of this list has named.',
    schema: z.string(),
    example: '2',
  },
} as const satisfies Readonly<Record<string, Parameter>>;

/** Names the client on a path that does not. */
export const CLIENT_HEADER = {
  'Tagcast-Client': {
    description: 'The client, by its slug.',
    schema: z.string(),
    example: 'demo',
  },
} as const;
