/** What the OpenAPI document says of credentials. */

import { z } from 'zod';
import type { Operations } from '../../http/openapi/operation.ts';
import { epochMs, id, jsonAnswer, LINK, PAGE } from '../../http/openapi/parts.ts';
import { rotateForm } from './credentials.ts';

const ROLES = ['super-user', 'api-user'] as const;
const role = {
  role: z.enum(ROLES),
  appId: id.optional().meta({ description: 'Of an api-user.' }),
  userName: z.string(),
};

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
} as const satisfies Operations;
