/** What the OpenAPI document says of the devices of an app on the Admin API. */

import { z } from 'zod';
import type { Operations } from '../../http/openapi/operation.ts';
import { count, epochMs, id, jsonAnswer, pathId, state } from '../../http/openapi/parts.ts';
import { deviceForm } from './app-devices.ts';
import { knownAttributeFields } from './attribute-forms.ts';

const text = z.string();
const device = {
  deviceId: text,
  registeredAt: epochMs,
  unsubscribedAt: epochMs.optional(),
  ...knownAttributeFields,
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

export const appDeviceOperations = {
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
