/** What the OpenAPI document says of an app's provider credentials and of its devices. */

import { z } from 'zod';
import { GRACE_HOURS_MAX } from '../../access/credentials.ts';
import { deviceForm } from '../../devices/routes/app-devices.ts';
import type { Operations } from '../../http/openapi/operation.ts';
import {
  count,
  epochMs,
  id,
  jsonAnswer,
  noContent,
  pathId,
  platformId,
  state,
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

const device = {
  deviceId: text,
  registeredAt: epochMs,
  unsubscribedAt: epochMs.optional(),
  appVersion: text.optional(),
  tags: z.array(z.object({ id, name: text, sourceId: text.optional() })),
  refusals: count,
  refusedAt: epochMs.optional(),
  environment: text.optional(),
};
const notificationId = z.uuid();
/** One that is gone has its deviceId and events only. */
const lookedUp = z
  .object({
    ...z.object(device).partial().shape,
    deviceId: text,
    registered: z.boolean(),
    pending: z
      .array(
        z.object({
          notificationId,
          kind: z.enum(['retry', 'dead', 'refused']),
          reason: text.optional(),
          attempts: count.optional(),
          dueAt: epochMs.optional(),
          held: z.literal(true).optional(),
        }),
      )
      .optional(),
    events: z.array(
      z.object({
        kind: z.enum(['failed', 'removed', 'replaced']),
        at: epochMs,
        notificationId: notificationId.optional(),
        reason: text,
      }),
    ),
    expected: z
      .array(
        z.object({
          notificationId,
          title: text.optional(),
          state,
          sendAt: epochMs,
          lastSendAt: epochMs.optional(),
          outcome: z.enum(['failed', 'pending', 'accepted', 'unknown']),
          reason: text.optional(),
          at: epochMs.optional(),
        }),
      )
      .optional()
      .meta({ description: 'Sends whose audience it is in, with its tags of now.' }),
  })
  .meta({ id: 'LookedUpDevice' });
const DEVICE_ID = 'cd'.repeat(32);
const DEVICE = {
  deviceId: DEVICE_ID,
  registeredAt: 1_795_392_000_000,
  tags: [{ id: 2, name: 'Breaking news', sourceId: 'breaking-news' }],
  refusals: 0,
};
const deviceBody = { schema: deviceForm, example: { platformId: 3, deviceId: DEVICE_ID } };

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
  lookUpDevice: {
    summary: 'What is known of a device',
    path: { id: app },
    body: deviceBody,
    answers: {
      200: jsonAnswer('The device, and what is known of sends to it.', lookedUp, {
        registered: true,
        ...DEVICE,
        pending: [],
        events: [],
        expected: [],
      }),
    },
    problems: [400, 404],
  },
  eraseDevice: {
    summary: 'Erase a device with its subscriptions',
    path: { id: app },
    body: deviceBody,
    answers: {
      200: jsonAnswer(
        'What was removed; only `erased` when there was nothing, `deviceId` too when only its events were there.',
        z.object({ erased: z.boolean(), ...z.object(device).partial().shape }),
        { erased: true, ...DEVICE },
      ),
    },
    problems: [400, 404],
  },
} as const satisfies Operations;
