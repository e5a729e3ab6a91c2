/** What the OpenAPI document says of webhooks. */

import { z } from 'zod';
import { DELIVERY_STATES, WEBHOOK_EVENT_TYPES } from '../../domain/webhook.ts';
import type { Operations } from '../../http/openapi/operation.ts';
import {
  count,
  epochMs,
  id,
  jsonAnswer,
  LINK,
  noContent,
  PAGE,
  pathId,
} from '../../http/openapi/parts.ts';
import { replayForm } from './webhook-deliveries.ts';
import { newWebhookForm, rotateWebhookForm, webhookPatchForm } from './webhooks.ts';

const webhook = z
  .object({
    id,
    url: z.string(),
    eventTypes: z.array(z.enum(WEBHOOK_EVENT_TYPES)),
    isEnabled: z.boolean(),
    createdAt: epochMs,
    failures: count.meta({ description: 'Requests that failed in a row.' }),
    droppedEvents: count.meta({
      description: 'Events that were deleted untold, because too many waited.',
    }),
    goneAt: epochMs.optional().meta({
      description: 'When its receiver answered 410, by which it was turned off.',
    }),
  })
  .meta({ id: 'Webhook' });
const withSecret = webhook
  .extend({ secret: z.string().meta({ description: 'It is told this once.' }) })
  .meta({ id: 'WebhookWithSecret' });
const WEBHOOK = {
  id: 1,
  url: 'https://cms.example.com/push-events',
  eventTypes: ['job.finished', 'token.removed'],
  isEnabled: true,
  createdAt: 1_795_392_000_000,
  failures: 0,
  droppedEvents: 0,
};
const WITH_SECRET = { ...WEBHOOK, secret: 'whsec_…' };
const path = { id: pathId('webhook', 1) };

export const webhookOperations = {
  listWebhooks: {
    summary: 'List the webhooks of the client',
    query: { ...PAGE, cursor: { ...PAGE.cursor, example: '0' } },
    answers: { 200: jsonAnswer('The webhooks, by id.', z.array(webhook), [WEBHOOK], LINK) },
    problems: [400],
  },
  createWebhook: {
    summary: 'Make a webhook',
    description:
      'Events go to its address, several in one request, signed as [Standard Webhooks](https://www.standardwebhooks.com) has it.',
    body: {
      schema: newWebhookForm,
      example: { url: WEBHOOK.url, eventTypes: WEBHOOK.eventTypes },
    },
    answers: { 201: jsonAnswer('Made. No cache may store its secret.', withSecret, WITH_SECRET) },
    problems: [400],
  },
  getWebhook: {
    summary: 'One webhook',
    path,
    answers: { 200: jsonAnswer('The webhook, without its secret.', webhook, WEBHOOK) },
    problems: [404],
  },
  changeWebhook: {
    summary: 'Change a webhook, or turn it off and on',
    description:
      'What is absent stays. While it is off, nothing is kept for it. With `isEnabled`, one whose receiver answered 410 is on again.',
    path,
    body: { schema: webhookPatchForm, example: { isEnabled: true } },
    answers: { 200: jsonAnswer('Changed.', webhook, WEBHOOK) },
    problems: [400, 404],
  },
  rotateWebhookSecret: {
    summary: 'Make a new secret of a webhook',
    description: 'For `graceHours` more, requests are signed with the old one, too.',
    path,
    body: { schema: rotateWebhookForm, example: { graceHours: 24 } },
    answers: {
      200: jsonAnswer('Made. No cache may store the secret.', withSecret, WITH_SECRET),
    },
    problems: [400, 404],
  },
  listWebhookDeliveries: {
    summary: 'List the requests to a webhook, newest first',
    description: 'Those of the last seven days, up to 1,000.',
    path,
    query: {
      limit: { ...PAGE.limit, description: 'How many rows. Without it, 100.' },
      cursor: { ...PAGE.cursor, example: 'ffffffff-ffff-7fff-bfff-ffffffffffff' },
      state: {
        description: 'Only those in this state.',
        schema: z.enum(DELIVERY_STATES),
        example: 'dead',
      },
    },
    answers: {
      200: jsonAnswer(
        'The deliveries.',
        z.array(
          z
            .object({
              id: z.uuid().meta({ description: 'The `webhook-id` of the request.' }),
              state: z.enum(DELIVERY_STATES),
              eventCount: count,
              attempts: count,
              createdAt: epochMs,
              lastAttemptAt: epochMs.optional(),
              nextAttemptAt: epochMs.optional(),
              status: count.optional().meta({ description: 'What the last attempt was answered.' }),
              fault: z.string().optional().meta({ description: 'Why the last attempt failed.' }),
            })
            .meta({ id: 'WebhookDelivery' }),
        ),
        [
          {
            id: '01979c5e-8b5a-7d1e-9f5b-0d5f3c1c9a77',
            state: 'dead',
            eventCount: 3,
            attempts: 14,
            createdAt: 1_795_392_000_000,
            lastAttemptAt: 1_795_452_000_000,
            status: 503,
            fault: 'answered 503',
          },
        ],
        LINK,
      ),
    },
    problems: [400, 404],
  },
  replayWebhookDeliveries: {
    summary: 'Send again what was given up, or what the receiver has lost',
    description: 'Those with these `ids` that are not pending, or all that are `dead`.',
    path,
    body: { schema: replayForm, example: { state: 'dead' } },
    answers: {
      200: jsonAnswer('How many.', z.object({ replayed: count }), { replayed: 3 }),
    },
    problems: [400, 404],
  },
  deleteWebhook: {
    summary: 'Delete a webhook, at once',
    description: 'With its deliveries, and with what it was to be told.',
    path: { id: pathId('webhook', 1) },
    answers: { 204: noContent('Deleted.') },
    problems: [404],
  },
} as const satisfies Operations;
