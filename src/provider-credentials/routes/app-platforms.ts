/**
 * `apps/<id>/platforms/<platformId>`: the provider credential of an app on a platform. It is put,
 * seen without its secrets, taken away, and checked with the provider.
 */

import { z } from 'zod';
import { GRACE_HOURS_MAX } from '../../access/credentials.ts';
import { isNotOn, onScope, SCOPE_PATH } from '../../catalogue/routes/app-on-platform.ts';
import type { Scope } from '../../domain/device.ts';
import { noContent, shown } from '../../http/answers.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { Body } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { parseObject } from '../../http/json-body.ts';
import { LenientReader } from '../../http/lenient.ts';
import { epochMs, platformId, time } from '../../http/openapi/parts.ts';
import type { Fault } from '../../http/problem.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { credentialFields } from '../../providers/credential-fields.ts';
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
      .meta({
        description:
          'What the provider said: `ok` is false when it refuses the credential, null when it could not be asked.',
      }),
    refused: z
      .object(reason)
      .optional()
      .meta({ description: 'The provider refuses it, and the one before is used.' }),
    fallbackUntil: epochMs.optional().meta({ description: 'How long the one before may be used.' }),
    acceptedAt: epochMs.optional().meta({ description: 'When the provider last took it.' }),
    fault: z
      .object({ ...reason, at: epochMs.optional() })
      .optional()
      .meta({ description: 'Of sends.' }),
  })
  .meta({ id: 'ProviderCredential' });
const KNOWN = { platformId: 3, hasCredential: false };

interface PutForm {
  /** The fields of the provider, which it checks. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly terms: PutTerms;
}

const putBody: Body<PutForm> = {
  schema: z.looseObject({
    ...credentialFields,
    graceHours: z.int().min(0).max(GRACE_HOURS_MAX).optional().meta({
      description:
        'How long the credential before it, if of the same account, stands by for one that the provider refuses. Absent: 72.',
    }),
    expiresAt: time.nullish().meta({ description: 'When the key ends.' }),
  }),
  example: { teamId: 'TEAM123456', keyId: 'KEY1234567', bundleId: 'com.acme.news' },
  read(request) {
    const body = parseObject(request.body);
    if (!body.ok) return refuse.invalid(body.faults);
    const { graceHours, expiresAt, ...input } = body.value;
    const { terms, faults } = readTerms(graceHours, expiresAt);
    return faults.length > 0 ? refuse.invalid(faults) : done({ input, terms });
  },
};

const PATH = '/push-admin-api/v3/:client/apps/:id/platforms/:platform';
const reads = routesAt(PATH, { api: 'admin', needs: 'read' });
const writes = routesAt(PATH, { api: 'admin', needs: 'admin' });
const puts = routesAt(PATH, { api: 'admin', needs: 'admin', isForSuccessor: true });

/** The state, put, taken away, checked. */
export function appPlatformRoutes(parts: AppPlatformParts): readonly Route[] {
  const checks = new PacedChecks();
  return [getRoute(parts), putRoute(parts, checks), deleteRoute(parts), probeRoute(parts, checks)];
}

const getRoute = (parts: AppPlatformParts) =>
  reads.get(
    'getProviderCredential',
    {
      summary: 'Read the state of a provider credential',
      path: SCOPE_PATH,
      answer: shown('Without its secrets.', credentialState, KNOWN),
    },
    onScope(parts.sql, async (scope) => done(await stateOf(parts, scope))),
  );

const putRoute = (parts: AppPlatformParts, checks: PacedChecks) =>
  puts.put(
    'putProviderCredential',
    {
      summary: 'Put a provider credential, and have it checked',
      description:
        'The fields are those of its provider. Each fault of the form is `400` and names its field. Then the credential is stored encrypted (a secret goes in and never comes out), and the provider is asked with a push for a device that cannot exist; it stays stored whatever that says. The next send on any node has it. Once a second for a client, else `429`. `404`: the app is not on the platform.',
      path: SCOPE_PATH,
      body: putBody,
      answer: shown('Stored.', credentialState, KNOWN),
    },
    onScope(parts.sql, async (scope, { caller, body: { input, terms }, request }) => {
      const parsed = parseProviderCredential(scope.platformId, input, parts.origins);
      if (!parsed.ok) return refuse.invalid(parsed.faults);
      const paced = await checks.run(caller.clientId, () =>
        putCredential(parts, originOf(request, caller), scope, parsed.credential, terms),
      );
      if (paced.kind !== 'done') return NOT_NOW[paced.kind];
      // Null: it was deleted since.
      return paced.value === null ? isNotOn([]) : done(await stateOf(parts, scope));
    }),
  );

const deleteRoute = (parts: AppPlatformParts) =>
  writes.delete(
    'deleteProviderCredential',
    {
      summary: 'Delete a provider credential',
      path: SCOPE_PATH,
      answer: noContent('Deleted.'),
    },
    onScope(parts.sql, async (scope, { caller, request }) => {
      await removeCredential(parts, originOf(request, caller), scope);
      return done(null);
    }),
  );

const probeRoute = (parts: AppPlatformParts, checks: PacedChecks) =>
  writes.post(
    'probeProviderCredential',
    {
      at: 'probe',
      summary: 'Ask the provider whether it accepts the credential',
      description: 'With a push for a device that cannot exist; once a second for each client.',
      path: SCOPE_PATH,
      answer: shown('What it said.', z.object({ ok: z.boolean().nullable(), note: z.string() }), {
        ok: true,
        note: 'The provider accepts it.',
      }),
    },
    onScope(parts.sql, async (scope, { caller: { clientId } }) => {
      const probed = await checks.run(clientId, () => parts.check(scope));
      if (probed.kind !== 'done') return NOT_NOW[probed.kind];
      const { isHealthy, note } = probed.value;
      return done({ ok: isHealthy, note });
    }),
  );

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
async function stateOf({ sql, secrets }: PutParts, { appId, platformId }: Scope) {
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
const NOT_NOW = {
  'too-many': refused(429, 'A client may have a provider asked once a second.', {
    headers: { 'Retry-After': TOO_MANY_RETRY_SECONDS },
  }),
  busy: refused(503, 'Too many providers are being asked. Try again.', {
    headers: { 'Retry-After': BUSY_RETRY_SECONDS },
  }),
};
