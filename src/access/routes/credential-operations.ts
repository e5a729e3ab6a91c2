/** What the OpenAPI document says of credentials and keys. */

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
import { keyForm } from '../../keys/routes/keys.ts';
import { rotateForm } from './credentials.ts';

const ROLES = ['super-user', 'api-user'] as const;
const role = {
  role: z.enum(ROLES),
  appId: id.optional().meta({ description: 'Of an api-user.' }),
  userName: z.string(),
};

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

export const credentialOperations = {
  listCredentials: {
    summary: 'List the credentials of the client and its apps',
    description: 'Without their secrets.',
    query: { ...PAGE, cursor: { ...PAGE.cursor, example: '0.1' } },
    answers: {
      200: jsonAnswer(
        'The credentials.',
        z.array(z.object({ ...role, createdAt: epochMs, expiresAt: epochMs.optional() })),
        [{ role: 'super-user', userName: 'demo-super', createdAt: 1_795_392_000_000 }],
        LINK,
      ),
    },
    problems: [400],
  },
  rotateCredential: {
    summary: 'Make a new credential in place of one',
    description:
      'The old one works for `graceHours` more: it reads and sends, and changes tags and devices. To one of a super user `keys`, `credentials` and `webhooks` then answer `403`, and so do apps that it would make or delete, provider credentials and templates that it would put.',
    path: {
      role: { description: 'Whose credential.', schema: z.enum(ROLES), example: 'api-user' },
    },
    body: { schema: rotateForm, example: { graceHours: 24, appId: 1 } },
    answers: {
      200: jsonAnswer(
        'The new one. No cache may store it.',
        z.object({ ...role, password: z.string(), token: z.string() }),
        {
          role: 'api-user',
          appId: 1,
          userName: 'demo-app-1-x9Kd',
          password: 'shown-again-by-the-console',
          token: 'tca_…',
        },
      ),
    },
    problems: [400, 404],
  },
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
