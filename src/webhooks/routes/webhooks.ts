/** `webhooks`: a client's super user makes, lists, changes and deletes them. */

import { z } from 'zod';
import { asSuperUser } from '../../access/routes/as-super-user.ts';
import { graceHours } from '../../access/routes/credentials.ts';
import type { Secrets } from '../../access/secrets.ts';
import { recordChange } from '../../audit/record-change.ts';
import { lockClient } from '../../clients/lock-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { changedFields } from '../../domain/audit.ts';
import type { Caller } from '../../domain/caller.ts';
import { overLimit } from '../../domain/client-limits.ts';
import { WEBHOOK_EVENT_TYPES } from '../../domain/webhook.ts';
import { tooMuch } from '../../http/beyond-limit.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { invalid, json, readJsonBody } from '../../http/json-body.ts';
import { answerList } from '../../http/list-answer.ts';
import { pathId } from '../../http/path-id.ts';
import { problem } from '../../http/problem.ts';
import { QueryReader } from '../../http/query-reader.ts';
import { withSecret } from '../../http/with-secret.ts';
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
const fields = {
  url: z
    .string('must be a string')
    .max(URL_LENGTH_MAX, `must have ${URL_LENGTH_MAX} characters at most`),
  eventTypes: measured(
    WEBHOOK_EVENT_TYPES.length,
    z
      .array(z.enum(WEBHOOK_EVENT_TYPES, EVENT_TYPES), EVENT_TYPES)
      .min(1, EVENT_TYPES)
      .max(WEBHOOK_EVENT_TYPES.length),
  ).optional(),
  isEnabled: z.boolean('must be true or false').optional(),
};
export const newWebhookForm = strictForm(fields);
export const webhookPatchForm = strictForm({ ...fields, url: fields.url.optional() });
export const rotateWebhookForm = strictForm({ graceHours });
type WebhookPatch = z.infer<typeof webhookPatchForm>;

export const WEBHOOKS_PATH = '/push-admin-api/v3/:client/webhooks';

/** The routes of webhooks themselves. */
export function webhookRoutes(parts: WebhookRouteParts): readonly ApiRoute[] {
  const read = { api: 'admin', needs: 'super-user', bodyBytesMax: 0 } as const;
  const write = { ...read, bodyBytesMax: BODY_BYTES_MAX } as const;
  return [
    {
      ...read,
      operation: 'listWebhooks',
      method: 'GET',
      path: WEBHOOKS_PATH,
      handle: (request, caller) => list(parts.sql, request, caller),
    },
    {
      ...write,
      operation: 'createWebhook',
      method: 'POST',
      path: WEBHOOKS_PATH,
      handle: (request, caller) => make(parts, request, caller),
    },
    {
      ...read,
      operation: 'getWebhook',
      method: 'GET',
      path: `${WEBHOOKS_PATH}/:id`,
      handle: (request, caller) => show(parts.sql, request, caller),
    },
    {
      ...write,
      operation: 'changeWebhook',
      method: 'PATCH',
      path: `${WEBHOOKS_PATH}/:id`,
      handle: (request, caller) => change(parts, request, caller),
    },
    {
      ...write,
      operation: 'rotateWebhookSecret',
      method: 'POST',
      path: `${WEBHOOKS_PATH}/:id/rotate`,
      handle: (request, caller) => rotate(parts, request, caller),
    },
    {
      ...write,
      operation: 'deleteWebhook',
      method: 'DELETE',
      path: `${WEBHOOKS_PATH}/:id`,
      handle: (request, caller) => remove(parts.sql, request, caller),
    },
  ];
}

async function list(sql: Sql, request: HttpRequest, { clientId }: Caller): Promise<HttpResponse> {
  const reader = new QueryReader(request.query, ['limit', 'cursor']);
  const page = { limit: reader.limit(), after: reader.cursor(FIRST) };
  if (reader.faults.length > 0) return invalid(request, reader.faults);
  const answer = await answerList<ListedWebhook, readonly number[]>(request, page, {
    read: ([afterId = 0], limit) => listWebhooks(sql, clientId, { afterId, limit }),
    keyOf: ({ id }) => [id],
    show: shown,
  });
  return withSecret(answer);
}

const FIRST: readonly number[] = [0];

async function show(sql: Sql, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const webhook = await webhookIn(sql, request, caller);
  return webhook === null ? unknownWebhook(request) : withSecret(json(shown(webhook)));
}

function make(
  { sql, secrets, arePrivateWebhooksAllowed }: WebhookRouteParts,
  request: HttpRequest,
  caller: Caller,
): HttpResponse | Promise<HttpResponse> {
  const { clientId } = caller;
  const read = readJsonBody(request, newWebhookForm);
  if (!read.ok) return read.response;
  const fault = addressFault(read.value.url, arePrivateWebhooksAllowed);
  if (fault !== null) return invalid(request, [{ path: 'url', message: fault }]);
  const secret = makeWebhookSecret();
  return asSuperUser(sql, request, caller, async (tx, origin) => {
    const limits = await lockClient(tx, clientId);
    const over = overLimit(limits, 'webhooks', await countWebhooks(tx, clientId));
    if (over !== null) return tooMuch(request.requestId, over);
    const id = await nextWebhookId(tx);
    const terms = termsOf(read.value, {
      url: '',
      eventTypes: WEBHOOK_EVENT_TYPES,
      isEnabled: true,
    });
    await insertWebhook(tx, clientId, id, terms, sealWebhookSecret(secrets, id, secret));
    await recordChange(tx, origin, {
      action: 'webhook.create',
      id,
      name: hostOf(terms),
      detail: { eventTypes: terms.eventTypes },
    });
    const made = await findWebhook(tx, clientId, id);
    if (made === null) throw new Error('a webhook is gone in the transaction that has made it');
    return withSecret({ ...json({ ...shown(made), secret }), status: 201 });
  });
}

function change(
  { sql, arePrivateWebhooksAllowed }: WebhookRouteParts,
  request: HttpRequest,
  caller: Caller,
): HttpResponse | Promise<HttpResponse> {
  const read = readJsonBody(request, webhookPatchForm);
  if (!read.ok) return read.response;
  const { url } = read.value;
  const fault = url === undefined ? null : addressFault(url, arePrivateWebhooksAllowed);
  if (fault !== null) return invalid(request, [{ path: 'url', message: fault }]);
  return asSuperUser(sql, request, caller, async (tx, origin) => {
    const before = await webhookIn(tx, request, caller);
    if (before === null) return unknownWebhook(request);
    const terms = termsOf(read.value, before);
    const fields = changedFields<WebhookTerms>(before, terms);
    if (fields.length === 0) return withSecret(json(shown(before)));
    const { id } = before;
    await changeWebhook(tx, id, terms);
    await recordChange(tx, origin, {
      action: 'webhook.change',
      id,
      name: hostOf(terms),
      detail: { fields },
    });
    const after = await findWebhook(tx, caller.clientId, id);
    return after === null ? unknownWebhook(request) : withSecret(json(shown(after)));
  });
}

/** What is absent stays. */
const termsOf = (
  asked: WebhookPatch,
  { url, eventTypes, isEnabled }: WebhookTerms,
): WebhookTerms => ({
  url: asked.url === undefined ? url : new URL(asked.url).href,
  eventTypes: WEBHOOK_EVENT_TYPES.filter((type) => (asked.eventTypes ?? eventTypes).includes(type)),
  isEnabled: asked.isEnabled ?? isEnabled,
});

function rotate(
  { sql, secrets }: WebhookRouteParts,
  request: HttpRequest,
  caller: Caller,
): HttpResponse | Promise<HttpResponse> {
  const read = readJsonBody(request, rotateWebhookForm);
  if (!read.ok) return read.response;
  const { graceHours: hours } = read.value;
  const secret = makeWebhookSecret();
  return asSuperUser(sql, request, caller, async (tx, origin) => {
    const webhook = await webhookIn(tx, request, caller);
    if (webhook === null) return unknownWebhook(request);
    const { id } = webhook;
    await replaceSecret(tx, id, sealWebhookSecret(secrets, id, secret), hours);
    await recordChange(tx, origin, {
      action: 'webhook.rotate',
      id,
      name: hostOf(webhook),
      detail: { graceHours: hours },
    });
    return withSecret(json({ ...shown(webhook), secret }));
  });
}

function remove(sql: SqlPool, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  return asSuperUser(sql, request, caller, async (tx, origin) => {
    const webhook = await webhookIn(tx, request, caller);
    if (webhook === null) return unknownWebhook(request);
    const { id } = webhook;
    await deleteWebhook(tx, id);
    const change = { action: 'webhook.delete', id, name: hostOf(webhook) } as const;
    await recordChange(tx, origin, change);
    return { status: 204, body: '' };
  });
}

/** The one in the path; null: the client has no such webhook. */
export async function webhookIn(
  sql: Sql,
  request: HttpRequest,
  { clientId }: Caller,
): Promise<ListedWebhook | null> {
  const id = pathId(request);
  return id === null ? null : await findWebhook(sql, clientId, id);
}

export const unknownWebhook = (request: HttpRequest): HttpResponse =>
  problem(request.requestId, 404, 'This client has no webhook with this id.');

/** What the audit log calls it: paths may hold secrets. */
export const hostOf = ({ url }: WebhookTerms): string => new URL(url).host;

const shown = ({ createdAtMs, goneAtMs, ...webhook }: ListedWebhook) => ({
  ...webhook,
  createdAt: createdAtMs,
  ...(goneAtMs === null ? {} : { goneAt: goneAtMs }),
});
