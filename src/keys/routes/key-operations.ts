/** What the OpenAPI document says of keys. */

import { z } from 'zod';
import { KEY_SCOPES } from '../../domain/caller.ts';
import type { Operations } from '../../http/openapi/operation.ts';
import {
  CANCEL_JOBS,
  count,
  epochMs,
  id,
  jsonAnswer,
  LINK,
  noContent,
  PAGE,
  pathId,
  time,
} from '../../http/openapi/parts.ts';
import { keyForm } from './keys.ts';

const rights = {
  id,
  name: z.string(),
  userName: z.string(),
  scopes: z.array(z.enum(KEY_SCOPES)),
  tagIds: z.array(id).optional(),
  groupIds: z.array(id).optional(),
  appIds: z.array(id).optional(),
  maxDevices: count.optional(),
  expiresAt: epochMs.optional(),
};
const KEY = { id: 1, name: 'CMS', userName: 'demo-key-4fX2pQ7sLw0a', scopes: ['send'] };

export const keyOperations = {
  listKeys: {
    summary: 'List the further keys of the client',
    description: 'Without their tokens. Keys that have ended are among them.',
    query: PAGE,
    answers: {
      200: jsonAnswer(
        'The keys, by id.',
        z.array(
          z
            .object({
              ...rights,
              createdAt: epochMs,
              lastUsedAt: epochMs.optional().meta({ description: 'To within a minute.' }),
            })
            .meta({ id: 'Key' }),
        ),
        [{ ...KEY, createdAt: 1_795_392_000_000 }],
        LINK,
      ),
    },
    problems: [400],
  },
  createKey: {
    summary: 'Make a further key',
    body: {
      schema: keyForm.extend({ expiresAt: time.nullish() }),
      example: { name: 'CMS', scopes: ['send'] },
    },
    answers: {
      201: jsonAnswer(
        'Made. Its token is shown this once; no cache may store it.',
        z.object({ ...rights, token: z.string() }).meta({ id: 'NewKey' }),
        { ...KEY, token: 'tck_…' },
      ),
    },
    problems: [400],
  },
  deleteKey: {
    summary: 'Delete a key, at once',
    path: { id: pathId('key', KEY.id) },
    query: CANCEL_JOBS,
    answers: { 204: noContent('Deleted, and its jobs cancelled where that was asked for.') },
    problems: [400, 404],
  },
} as const satisfies Operations;
