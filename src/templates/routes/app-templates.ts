/**
 * `apps/<id>/platforms/<platformId>/template`: the template of an app on a platform. It is put,
 * checked and tried out on a sample, seen, taken away.
 */

import { z } from 'zod';
import { recordChange } from '../../audit/record-change.ts';
import { notOn, withScope } from '../../catalogue/routes/app-on-platform.ts';
import { findAppName } from '../../clients/find-app.ts';
import { shareClient } from '../../clients/lock-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { Caller } from '../../domain/caller.ts';
import type { PlatformId, Scope } from '../../domain/device.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Payload } from '../../domain/notification.ts';
import { givenPayload } from '../../domain/payload.ts';
import { isPassedOnIn } from '../../domain/payload-digits.ts';
import { TEMPLATE_LENGTH_MAX } from '../../domain/template.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { invalid, json, readJsonBody } from '../../http/json-body.ts';
import { tooManyTemplates } from '../../http/too-many-templates.ts';
import { isStorable } from '../../std/name-text.ts';
import { strictForm } from '../../std/strict-form.ts';
import { applyTemplates } from '../apply-templates.ts';
import type { Evaluator } from '../evaluator.ts';
import { deleteTemplate, readTemplate, writeTemplate } from '../templates.ts';
import { renderedFor } from './rendered.ts';

export interface AppTemplateParts {
  readonly sql: SqlPool;
  readonly evaluator: Evaluator;
}

const EXPRESSION = `must be a JSONata expression: a string of 1–${TEMPLATE_LENGTH_MAX} characters, without NUL`;

export const templateForm = strictForm({
  expression: z
    .string(EXPRESSION)
    .min(1, EXPRESSION)
    .max(TEMPLATE_LENGTH_MAX, EXPRESSION)
    .refine(isStorable, EXPRESSION),
  sample: z.unknown().optional(),
});

/** Seen, put, taken away. */
export function appTemplateRoutes(parts: AppTemplateParts): readonly ApiRoute[] {
  const path = '/push-admin-api/v3/:client/apps/:id/platforms/:platform/template';
  const onScope =
    (answer: (request: HttpRequest, of: OfScope) => Promise<HttpResponse>) =>
    (request: HttpRequest, caller: Caller) =>
      withScope(parts.sql, request, caller, (scope) => answer(request, { scope, caller }));
  return [
    {
      operation: 'getTemplate',
      api: 'admin',
      needs: 'read',
      method: 'GET',
      path,
      bodyBytesMax: 0,
      handle: onScope(async (_request, { scope }) => json(await shown(parts.sql, scope))),
    },
    {
      operation: 'putTemplate',
      isForSuccessor: true,
      api: 'admin',
      needs: 'admin',
      method: 'PUT',
      path,
      bodyBytesMax: BODY_BYTES_MAX,
      handle: onScope((request, of) => put(parts, request, of)),
    },
    {
      operation: 'deleteTemplate',
      api: 'admin',
      needs: 'admin',
      method: 'DELETE',
      path,
      bodyBytesMax: 0,
      handle: onScope(async (request, of) => {
        await remove(parts.sql, request, of);
        return { status: 204, body: '' };
      }),
    },
  ];
}

interface OfScope {
  readonly scope: Scope<PlatformId>;
  readonly caller: Caller;
}

/** Nothing is stored unless its form is right, and it makes a message of the sample. */
async function put(
  { sql, evaluator }: AppTemplateParts,
  request: HttpRequest,
  { scope, caller }: OfScope,
): Promise<HttpResponse> {
  const read = readJsonBody(request, templateForm, { isKept: isPassedOnIn('sample') });
  if (!read.ok) return read.response;
  const { expression, sample } = read.value;
  const checked = await evaluator.check(caller.clientId, expression);
  if (checked.kind === 'busy') return tooManyTemplates(request);
  const [result] = checked.results;
  if (result?.ok === false) {
    const { why, ...where } = result.fault;
    const message = `is not a JSONata expression: ${why}`;
    return invalid(request, [{ path: 'expression', message, ...where }]);
  }
  const trial = await tryOut(evaluator, caller.clientId, { ...scope, expression }, sample);
  if (trial.kind === 'busy') return tooManyTemplates(request);
  if (trial.kind === 'invalid') return invalid(request, trial.faults);
  const isOn = await transact(sql, async (tx) => {
    await shareClient(tx, caller.clientId);
    const written = await writeTemplate(tx, scope, expression);
    if (written) await record(tx, request, { scope, caller }, 'put');
    return written;
  });
  // It was deleted since.
  if (!isOn) return notOn(request, []);
  return json({ ...(await shown(sql, scope)), ...trialShown(scope, trial.payload) });
}

type Trial =
  /** Null: there was no sample. */
  | { readonly kind: 'fit'; readonly payload: Payload | null }
  | {
      readonly kind: 'invalid';
      readonly faults: readonly { readonly path: string; readonly message: string }[];
    }
  | { readonly kind: 'busy' };

async function tryOut(
  evaluator: Evaluator,
  clientId: number,
  template: Scope<PlatformId> & { readonly expression: string },
  sample: unknown,
): Promise<Trial> {
  if (sample === undefined) return { kind: 'fit', payload: null };
  const given = givenPayload(sample);
  const applied = given.ok
    ? await applyTemplates(evaluator, clientId, given.given, [template])
    : ({ kind: 'invalid', faults: given.faults } as const);
  switch (applied.kind) {
    case 'busy':
      return applied;
    case 'invalid':
      return {
        kind: 'invalid',
        faults: applied.faults.map(({ message }) => ({ path: 'sample', message })),
      };
    case 'made':
      return { kind: 'fit', payload: applied.payloads[scopeKeyOf(template)] ?? null };
  }
}

const trialShown = ({ platformId }: Scope<PlatformId>, payload: Payload | null) =>
  payload === null
    ? {}
    : { trial: renderedFor(platformId, { payload, dueAtMs: Date.now(), expiresAtMs: null }) };

async function shown(sql: Sql, scope: Scope): Promise<object> {
  const template = await readTemplate(sql, scope);
  return {
    platformId: scope.platformId,
    hasTemplate: template !== null,
    ...(template === null
      ? {}
      : { expression: template.expression, updatedAt: template.updatedAtMs }),
  };
}

const remove = (sql: SqlPool, request: HttpRequest, of: OfScope): Promise<void> =>
  transact(sql, async (tx) => {
    await shareClient(tx, of.caller.clientId);
    if (await deleteTemplate(tx, of.scope)) await record(tx, request, of, 'delete');
  });

async function record(
  tx: Sql,
  request: HttpRequest,
  { scope: { appId, platformId }, caller }: OfScope,
  what: 'put' | 'delete',
): Promise<void> {
  const name = await findAppName(tx, caller.clientId, appId);
  const id = `${appId}/${platformId}`;
  await recordChange(tx, originOf(request, caller), { action: `template.${what}`, id, name });
}
