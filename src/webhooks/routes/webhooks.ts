/** `webhooks`: a client's super user makes, lists, changes, rotates and deletes them. */

import { z } from 'zod';
import { graceHours } from '../../access/routes/credentials.ts';
import { asSuperUser } from '../../access/routes/in-client.ts';
import type { Secrets } from '../../access/secrets.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { changedFields } from '../../domain/audit.ts';
import { overLimit } from '../../domain/client-limits.ts';
import { WEBHOOK_EVENT_TYPES } from '../../domain/webhook.ts';
import { created, listed, noContent, secret, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { count, epochMs, id, orAbsent, word } from '../../http/openapi/parts.ts';
import { cursorFrom, LIMIT, pathId } from '../../http/parameters.ts';
import { done, refuse } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import { addressFault, URL_LENGTH_MAX } from '../address.ts';
import { makeWebhookSecret, sealWebhookSecret } from '../secret.ts';
import type { ListedWebhook, WebhookTerms } from '../sql/webhooks.ts';
import {
  changeWebhook,
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  nextWebhookId,
  replaceSecret,
} from '../sql/webhooks.ts';

export interface WebhookRouteParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
  /** The operator's setting. */
  readonly arePrivateWebhooksAllowed: boolean;
}

const EVENT_TYPES = `must be some of ${WEBHOOK_EVENT_TYPES.join(', ')}`;
const eventTypes = measured(
  WEBHOOK_EVENT_TYPES.length,
  z
    .array(z.enum(WEBHOOK_EVENT_TYPES, EVENT_TYPES), EVENT_TYPES)
    .min(1, EVENT_TYPES)
    .max(WEBHOOK_EVENT_TYPES.length),
)
  .optional()
  .meta({ description: 'Absent, in a new one: all of them.' });
const isEnabled = z.boolean('must be true or false').optional();
const url = (arePrivateAllowed: boolean) =>
  z
    .string('must be a string')
    .meta({
      description:
        '`https://`, in the public internet, without user name and `#`; elsewhere `400`. Where its name leads is checked at each request. The operator may allow `http://` and private addresses (`WEBHOOK_PRIVATE_ADDRESSES`).',
    })
    .max(URL_LENGTH_MAX, {
      error: `must have ${URL_LENGTH_MAX} characters at most`,
      abort: true,
    })
    .check(({ value, issues }) => {
      const message = addressFault(value, arePrivateAllowed);
      if (message !== null) issues.push({ code: 'custom', message, input: value });
    });

const webhook = z
  .object({
    id,
    url: z.string(),
    eventTypes: z.array(word(WEBHOOK_EVENT_TYPES)),
    isEnabled: z.boolean(),
    createdAt: epochMs,
    failures: count.meta({ description: 'Requests that failed in a row.' }),
    droppedEvents: count.meta({
      description: 'Events that were deleted untold, because more than 10,000 waited.',
    }),
    goneAt: orAbsent(
      epochMs.meta({ description: 'When its receiver answered 410, by which it was turned off.' }),
    ),
  })
  .meta({ id: 'Webhook' });
const withSecret = webhook
  .extend({ secret: z.string().meta({ description: 'It is shown this once.' }) })
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

const ABOUT_REQUESTS = `Tagcast reports to a server of yours what happens, signed as [Standard Webhooks](https://www.standardwebhooks.com) has it. A client may have 20, or what its operator sets: else \`403\`.

A request is a \`POST\` with several events, up to 500, some 256 KiB: \`{"type":"events","timestamp":"…","data":{"events":[{"type":"job.finished","timestamp":"…","data":{…}}]}}\`. The \`data\` of each type:

- \`job.finished\`: \`jobId\`, \`state\` (\`FINISHED\`, \`FAILED\`, \`CANCELLED\`), and \`totalCount\`, \`successCount\`, \`failedCount\`, \`skippedCount\`, \`expiredCount\`, \`cancelledCount\` over all apps, and where caps left devices out \`withheldCount\` and \`withheldReasons\`. A job whose parked parts are released ends once more.
- \`notification.withheld\`: \`jobId\`, \`category\`, \`totalCount\`, \`withheldCount\`, \`withheldReasons\`: a job has ended, and caps had left devices out of it.
- \`token.removed\`: \`appId\`, \`platformId\`, \`jobId\` of the push that found it out, \`reason\` (\`dead\`: its provider said so; \`refused\`: it refused them again and again), \`deviceIds\`: erased from Tagcast, so drop them, too.
- \`token.replaced\`: \`appId\`, \`platformId\`, \`tokens\`: \`[{deviceId, newDeviceId}]\`, by \`replaceDevice\`, or because the installation registers by its id.
- \`credential.trouble\`: \`appId\`, \`platformId\`, \`note\`, and \`trouble\`: \`send-stopped\` (pushes fail by it; once, and again after it has worked or after a day), \`check-failed\`, \`fallback-used\` (the new credential is refused, the one before it is used until \`expiresAt\`), \`expires-soon\` (30, 7 and 1 days before \`expiresAt\`).

Its headers: \`webhook-id\`, \`webhook-timestamp\` (seconds, of the attempt), \`webhook-signature\` (\`v1,<base64>\`, several with spaces between them while a secret is replaced).

- Answer with any \`2xx\` within 10 s, then work. Everything else is a failure, redirects too. A delivery is tried 14 times, for 17 to 26 hours, and is \`dead\` then. After a failure the receiver has a rest of 1 s, up to 10 min after several; a \`Retry-After\` of \`429\` or \`503\` makes it longer, up to an hour.
- \`410 Gone\` ends it: the webhook is turned off at once (\`isEnabled\`, \`goneAt\`), and the delivery is \`dead\`.
- At least once: a request may come twice, with the same \`webhook-id\` and body. Remember the ids of a day. Events come in order, but for those of requests that had to be repeated. An event is sent about a second after it happened.
- Nothing is lost when a node dies. Deliveries have tokens of devices that are gone: for 7 days, or until the webhook is deleted.`;

const route = routesAt('/push-admin-api/v3/:client/webhooks', {
  api: 'admin',
  needs: 'super-user',
});
const path = { id: pathId('webhook', 1) };
const NO_WEBHOOK = refuse.unknown('webhook');

export const webhookRoutes = (parts: WebhookRouteParts): readonly Route[] =>
  [listRoute, createRoute, getRoute, changeRoute, rotateRoute, deleteRoute].map((make) =>
    make(parts),
  );

const listRoute = ({ sql }: WebhookRouteParts) =>
  route.get(
    'listWebhooks',
    {
      summary: 'List the webhooks of the client',
      query: { limit: LIMIT, cursor: cursorFrom([0], '0') },
      answer: secret(listed('The webhooks, by id.', webhook, [WEBHOOK])),
    },
    ({ caller: { clientId }, query }) =>
      rowsOf(query, {
        read: ([afterId = 0], limit) => listWebhooks(sql, clientId, { afterId, limit }),
        keyOf: ({ id }) => [id],
      }),
  );

const createRoute = ({ sql, secrets, arePrivateWebhooksAllowed }: WebhookRouteParts) =>
  route.post(
    'createWebhook',
    {
      summary: 'Make a webhook',
      description: ABOUT_REQUESTS,
      body: form(strictForm({ url: url(arePrivateWebhooksAllowed), eventTypes, isEnabled }), {
        url: WEBHOOK.url,
        eventTypes: WEBHOOK.eventTypes,
      }),
      answer: secret(created('Made. No cache may store its secret.', withSecret, WITH_SECRET)),
    },
    asSuperUser(sql, async (tx, { clientId, limits, record }, { body }) => {
      const over = overLimit(limits, 'webhooks', await countWebhooks(tx, clientId));
      if (over !== null) return refuse.overLimit(over);
      const id = await nextWebhookId(tx);
      const secret = makeWebhookSecret();
      const terms = termsOf(body, { url: '', eventTypes: WEBHOOK_EVENT_TYPES, isEnabled: true });
      await insertWebhook(tx, clientId, id, terms, sealWebhookSecret(secrets, id, secret));
      const detail = { eventTypes: terms.eventTypes };
      await record({ action: 'webhook.create', id, name: hostOf(terms), detail });
      return done({ ...(await foundAgain(tx, clientId, id)), secret });
    }),
  );

const getRoute = ({ sql }: WebhookRouteParts) =>
  route.get(
    'getWebhook',
    {
      at: ':id',
      summary: 'One webhook',
      path,
      answer: secret(shown('The webhook, without its secret.', webhook, WEBHOOK)),
    },
    async ({ caller: { clientId }, path: { id } }) => {
      const found = await findWebhook(sql, clientId, id);
      return found === null ? NO_WEBHOOK : done(found);
    },
  );

const changeRoute = ({ sql, arePrivateWebhooksAllowed }: WebhookRouteParts) =>
  route.patch(
    'changeWebhook',
    {
      at: ':id',
      summary: 'Change a webhook, or turn it off and on',
      description:
        'What is absent stays. While it is off, nothing is kept for it. With `isEnabled`, one whose receiver answered 410 is on again.',
      path,
      body: form(
        strictForm({ url: url(arePrivateWebhooksAllowed).optional(), eventTypes, isEnabled }),
        { isEnabled: true },
      ),
      answer: secret(shown('Changed.', webhook, WEBHOOK)),
    },
    asSuperUser(sql, async (tx, { clientId, record }, { path: { id }, body }) => {
      const before = await findWebhook(tx, clientId, id);
      if (before === null) return NO_WEBHOOK;
      const terms = termsOf(body, before);
      const fields = changedFields<WebhookTerms>(before, terms);
      if (fields.length === 0) return done(before);
      await changeWebhook(tx, id, terms);
      await record({ action: 'webhook.change', id, name: hostOf(terms), detail: { fields } });
      return done(await foundAgain(tx, clientId, id));
    }),
  );

const rotateRoute = ({ sql, secrets }: WebhookRouteParts) =>
  route.post(
    'rotateWebhookSecret',
    {
      at: ':id/rotate',
      summary: 'Make a new secret of a webhook',
      description: 'For `graceHours` more, requests are signed with the old one, too.',
      path,
      body: form(strictForm({ graceHours }), { graceHours: 24 }),
      answer: secret(shown('Made. No cache may store the secret.', withSecret, WITH_SECRET)),
    },
    asSuperUser(sql, async (tx, { clientId, record }, { path: { id }, body: { graceHours } }) => {
      const found = await findWebhook(tx, clientId, id);
      if (found === null) return NO_WEBHOOK;
      const secret = makeWebhookSecret();
      await replaceSecret(tx, id, sealWebhookSecret(secrets, id, secret), graceHours);
      await record({ action: 'webhook.rotate', id, name: hostOf(found), detail: { graceHours } });
      return done({ ...found, secret });
    }),
  );

const deleteRoute = ({ sql }: WebhookRouteParts) =>
  route.delete(
    'deleteWebhook',
    {
      at: ':id',
      summary: 'Delete a webhook, at once',
      description: 'With its deliveries and its waiting events.',
      path,
      answer: noContent('Deleted.'),
    },
    asSuperUser(sql, async (tx, { clientId, record }, { path: { id } }) => {
      const found = await findWebhook(tx, clientId, id);
      if (found === null) return NO_WEBHOOK;
      await deleteWebhook(tx, id);
      await record({ action: 'webhook.delete', id, name: hostOf(found) });
      return done(null);
    }),
  );

/** Fields that are absent keep their values. */
const termsOf = (
  asked: { readonly [Field in keyof WebhookTerms]?: WebhookTerms[Field] | undefined },
  { url, eventTypes, isEnabled }: WebhookTerms,
): WebhookTerms => ({
  url: asked.url === undefined ? url : new URL(asked.url).href,
  eventTypes: WEBHOOK_EVENT_TYPES.filter((type) => (asked.eventTypes ?? eventTypes).includes(type)),
  isEnabled: asked.isEnabled ?? isEnabled,
});

/** The one that the transaction has just written. */
async function foundAgain(tx: Sql, clientId: number, id: number): Promise<ListedWebhook> {
  const found = await findWebhook(tx, clientId, id);
  if (found === null) throw new Error('a webhook is gone in the transaction that has written it');
  return found;
}

/** The webhook's name in the audit log: paths may hold secrets. */
export const hostOf = ({ url }: WebhookTerms): string => new URL(url).host;
