/** What the OpenAPI document says of an app's provider credentials. */

import { z } from 'zod';
import { GRACE_HOURS_MAX } from '../../access/credentials.ts';
import type { Operations } from '../../http/openapi/operation.ts';
import {
  epochMs,
  jsonAnswer,
  noContent,
  pathId,
  platformId,
  time,
} from '../../http/openapi/parts.ts';

const reason = { reason: z.string(), meaning: z.string() };
const credentialState = z
  .object({
    platformId,
    hasCredential: z.boolean(),
    credential: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Without its secrets.' }),
    updatedAt: epochMs.optional(),
    expiresAt: epochMs.optional(),
    check: z
      .object({ ok: z.boolean().nullable(), note: z.string(), at: epochMs.optional() })
      .optional()
      .meta({ description: 'What the provider said; `ok` is null when it could not be asked.' }),
    refused: z.object(reason).optional(),
    fallbackUntil: epochMs.optional(),
    acceptedAt: epochMs.optional(),
    fault: z.object({ ...reason, at: epochMs.optional() }).optional(),
  })
  .meta({ id: 'ProviderCredential' });

const text = z.string();
/** The fields of each provider are checked by it: docs/api.md, "Provider credentials". */
const credentialBody = z.looseObject({
  teamId: text.optional(),
  keyId: text.optional(),
  privateKey: text.optional().meta({ description: 'The .p8 file.' }),
  bundleId: text.optional(),
  environment: text.optional(),
  serviceAccount: z.unknown().optional().meta({ description: 'The JSON of its file.' }),
  graceHours: z.int().min(0).max(GRACE_HOURS_MAX).optional(),
  expiresAt: time.nullish(),
});

const app = pathId('app', 1);
const path = { id: app, platform: { ...pathId('platform', 3), schema: platformId } };
const KNOWN = { platformId: 3, hasCredential: false };

export const appPlatformOperations = {
  getProviderCredential: {
    summary: 'What is known of a provider credential',
    path,
    answers: { 200: jsonAnswer('Without its secrets.', credentialState, KNOWN) },
    problems: [404],
  },
  putProviderCredential: {
    summary: 'Put a provider credential, and have it checked',
    description:
      'The fields are those of its provider. Stored encrypted: a secret goes in and never comes out.',
    path,
    body: {
      schema: credentialBody,
      example: { teamId: 'TEAM123456', keyId: 'KEY1234567', bundleId: 'com.acme.news' },
    },
    answers: { 200: jsonAnswer('Stored.', credentialState, KNOWN) },
    problems: [400, 404],
  },
  deleteProviderCredential: {
    summary: 'Delete a provider credential',
    path,
    answers: { 204: noContent('Deleted.') },
    problems: [404],
  },
  probeProviderCredential: {
    summary: 'Ask the provider whether it accepts the credential',
    description: 'With a push for a device that cannot exist; once a second for each client.',
    path,
    answers: {
      200: jsonAnswer('What it said.', z.object({ ok: z.boolean().nullable(), note: z.string() }), {
        ok: true,
        note: 'The provider accepts it.',
      }),
    },
    problems: [404],
  },
} as const satisfies Operations;
