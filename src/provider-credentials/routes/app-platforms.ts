/**
 * `apps/<id>/platforms/<platformId>`: the provider credential of an app on a platform. It is put,
 * seen without its secrets, taken away, and checked with the provider.
 */

import { z } from 'zod';
import { GRACE_HOURS_MAX } from '../../access/credentials.ts';
import { notOn, withScope } from '../../catalogue/routes/app-on-platform.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Scope } from '../../domain/device.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { invalid, json, parseObject } from '../../http/json-body.ts';
import { LenientReader } from '../../http/lenient.ts';
import type { Fault } from '../../http/problem.ts';
import { problem } from '../../http/problem.ts';
import { faultSentence } from '../../providers/fault-sentence.ts';
import type { ProviderOrigins } from '../../providers/origins.ts';
import { providerOf } from '../../providers/providers.ts';
import { PacedChecks } from '../paced-checks.ts';
import type { PutTerms } from '../provider-credentials.ts';
import {
  PROVIDER_GRACE_HOURS,
  parseProviderCredential,
  readProviderCredential,
} from '../provider-credentials.ts';
import type { PutParts } from '../put-credential.ts';
import { putCredential, removeCredential } from '../put-credential.ts';
import type { CredentialState } from '../sql/read-credential-states.ts';
import { readCredentialStates } from '../sql/read-credential-states.ts';

export interface AppPlatformParts extends PutParts {
  /** The operator's settings of the providers' addresses: a credential may name only these. */
  readonly origins: ProviderOrigins;
}

/** The state, put, taken away, checked. */
export function appPlatformRoutes(parts: AppPlatformParts): readonly ApiRoute[] {
  const path = '/push-admin-api/v3/:client/apps/:id/platforms/:platform';
  const checks = new PacedChecks();
  const onScope =
    (answer: (request: HttpRequest, scope: Scope, caller: Caller) => Promise<HttpResponse>) =>
    (request: HttpRequest, caller: Caller) =>
      withScope(parts.sql, request, caller, (scope) => answer(request, scope, caller));
  const write = { api: 'admin', needs: 'admin' } as const;
  return [
    {
      operation: 'getProviderCredential',
      api: 'admin',
      needs: 'read',
      method: 'GET',
      path,
      bodyBytesMax: 0,
      handle: onScope(async (_request, scope) => json(await shown(parts, scope))),
    },
    {
      ...write,
      operation: 'putProviderCredential',
      isForSuccessor: true,
      method: 'PUT',
      path,
      bodyBytesMax: BODY_BYTES_MAX,
      handle: onScope((request, scope, caller) => put(parts, checks, request, scope, caller)),
    },
    {
      ...write,
      operation: 'deleteProviderCredential',
      method: 'DELETE',
      path,
      bodyBytesMax: 0,
      handle: onScope(async (request, scope, caller) => {
        await removeCredential(parts, originOf(request, caller), scope);
        return { status: 204, body: '' };
      }),
    },
    {
      ...write,
      operation: 'probeProviderCredential',
      method: 'POST',
      path: `${path}/probe`,
      bodyBytesMax: BODY_BYTES_MAX,
      handle: onScope(async (request, scope, { clientId }) => {
        const probed = await checks.run(clientId, () => parts.check(scope));
        if (probed.kind !== 'done') return tooManyChecks(request, probed.kind);
        const { isHealthy, note } = probed.value;
        return json({ ok: isHealthy, note });
      }),
    },
  ];
}

async function put(
  parts: AppPlatformParts,
  checks: PacedChecks,
  request: HttpRequest,
  scope: Scope,
  caller: Caller,
): Promise<HttpResponse> {
  const body = parseObject(request.body);
  if (!body.ok) return invalid(request, body.faults);
  const { graceHours, expiresAt, ...input } = body.value;
  const { terms, faults } = readTerms(graceHours, expiresAt);
  if (faults.length > 0) return invalid(request, faults);
  const parsed = parseProviderCredential(scope.platformId, input, parts.origins);
  if (!parsed.ok) return invalid(request, parsed.faults);
  const paced = await checks.run(caller.clientId, () =>
    putCredential(parts, originOf(request, caller), scope, parsed.credential, terms),
  );
  if (paced.kind !== 'done') return tooManyChecks(request, paced.kind);
  // Null: it was deleted since.
  return paced.value === null ? notOn(request, []) : json(await shown(parts, scope));
}

const GRACE = `must be whole hours, 0–${GRACE_HOURS_MAX}`;
const graceForm = z.int().min(0).max(GRACE_HOURS_MAX).default(PROVIDER_GRACE_HOURS);

function readTerms(
  graceHours: unknown,
  expiresAt: unknown,
): { readonly terms: PutTerms; readonly faults: readonly Fault[] } {
  const reader = new LenientReader({ expiresAt });
  const expiresAtMs = reader.time('expiresAt');
  const grace = graceForm.safeParse(graceHours);
  if (!grace.success) reader.fault('graceHours', GRACE);
  return {
    terms: { graceHours: grace.data ?? PROVIDER_GRACE_HOURS, expiresAtMs },
    faults: reader.faults,
  };
}

/** The credential without its secrets, and what is known of it; what it does not have left out. */
async function shown({ sql, secrets }: PutParts, { appId, platformId }: Scope): Promise<object> {
  const opened = await readProviderCredential(sql, secrets, appId, platformId);
  const states = await readCredentialStates(sql, appId, PLATFORMS_MAX);
  const state = states.find((one) => one.platformId === platformId);
  const stored = opened.kind === 'opened' || opened.kind === 'unreadable';
  const credential =
    opened.kind === 'opened'
      ? providerOf(opened.credential).publicPart(opened.credential)
      : undefined;
  return {
    platformId,
    hasCredential: stored,
    credential,
    ...(state === undefined || !stored ? {} : stateShown(state)),
  };
}

/** More platforms than there are. */
const PLATFORMS_MAX = 100;

const stateShown = (state: CredentialState) => ({
  updatedAt: ms(state.updatedAtMs),
  expiresAt: ms(state.expiresAtMs),
  check:
    state.checkNote === null
      ? undefined
      : { ok: state.isHealthy, note: state.checkNote, at: ms(state.checkedAtMs) },
  refused: state.refusedReason === null ? undefined : reasonShown(state.refusedReason),
  fallbackUntil: ms(state.fallbackUntilMs),
  acceptedAt: ms(state.acceptedAtMs),
  fault:
    state.fault === null ? undefined : { ...reasonShown(state.fault), at: ms(state.faultAtMs) },
});

const ms = (timeMs: number | null): number | undefined =>
  timeMs === null ? undefined : Math.floor(timeMs);

const reasonShown = (reason: string) => ({ reason, meaning: faultSentence(reason) });

/** Those under way have ten seconds. */
const BUSY_RETRY_SECONDS = '5';
const TOO_MANY_RETRY_SECONDS = '1';

function tooManyChecks({ requestId }: HttpRequest, kind: 'too-many' | 'busy'): HttpResponse {
  switch (kind) {
    case 'too-many':
      return problem(requestId, 429, 'A client may have a provider asked once a second.', {
        headers: { 'Retry-After': TOO_MANY_RETRY_SECONDS },
      });
    case 'busy':
      return problem(requestId, 503, 'Too many providers are being asked. Try again.', {
        headers: { 'Retry-After': BUSY_RETRY_SECONDS },
      });
  }
}
