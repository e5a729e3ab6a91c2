/** The operator's route that brings everything under a new SECRET_KEY, a piece a request. */

import { z } from 'zod';
import type { Secrets } from '../../access/secrets.ts';
import type { SqlPool } from '../../database/sql.ts';
import { ID_MAX } from '../../domain/tag.ts';
import { shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { count, orAbsent } from '../../http/openapi/parts.ts';
import { done, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { isStorable } from '../../std/name-text.ts';
import { strictForm } from '../../std/strict-form.ts';
import { resealPiece, SEALED_KINDS } from './reseal.ts';

interface Parts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
}

const kind = z.enum(SEALED_KINDS, `must be ${SEALED_KINDS.join(', ')}`);
const after = z.union(
  [z.int().min(0).max(ID_MAX), z.string().refine(isStorable)],
  'must be the value of `next`',
);
const keyId = z.string().meta({
  description: 'The key of the first answer. A node that has another one answers `409`.',
});
const position = z.object({ keyId, kind, after: after.optional() });
const positionForm = strictForm({
  keyId: keyId.optional(),
  kind: kind.default('credentials'),
  after: after.optional(),
});

const rotated = z.object({
  keyId: z.string().meta({ description: 'The key that the rows are under now.' }),
  changed: count,
  unreadable: count.meta({
    description: 'Left as they were: made with neither key, or damaged.',
  }),
  next: orAbsent(
    position.meta({ description: 'The body of the next request; absent: everything is done.' }),
  ),
});

const otherKey = (first: string, own: string): string =>
  `Nodes have different SECRET_KEYs: the first piece was brought under key ${first}, and the node that was asked now has key ${own}. Start every node again with the same SECRET_KEY and SECRET_KEY_OTHER, then run this again.`;

export const secretKeyRoute = ({ sql, secrets }: Parts): Route =>
  routesAt('/operator/v1/secret-key', { api: 'operator' }).post(
    'rotateSecretKey',
    {
      at: 'rotate',
      summary: 'Bring a piece of what was made with SECRET_KEY_OTHER under SECRET_KEY',
      description:
        'The first request has the body `{}`, each further one the `next` of the answer before it. Some rows a request; one that was interrupted is asked again.',
      body: form(positionForm, { kind: 'credentials' }),
      answer: shown('The rows of this piece.', rotated, {
        ...{ keyId: 'k3n5q8rt', changed: 100, unreadable: 0 },
        next: { keyId: 'k3n5q8rt', kind: 'credentials', after: 100 },
      }),
      problems: [409],
    },
    async ({ body: { keyId = secrets.keyId, ...start } }) => {
      if (keyId !== secrets.keyId) return refused(409, otherKey(keyId, secrets.keyId));
      const { next, ...counts } = await resealPiece(sql, secrets, start);
      return done({ keyId, ...counts, next: next && { keyId, ...next } });
    },
  );
