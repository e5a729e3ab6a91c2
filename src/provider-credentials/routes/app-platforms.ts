/**
 * `apps/<id>/platforms/<platformId>`: the provider credential of an app on a platform. It is put,
 * seen without its secrets, taken away, and checked with the provider.
 */

import { isNotOn, onScope, SCOPE_PATH } from '../../catalogue/routes/app-on-platform.ts';
import { noContent, shown } from '../../http/answers.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { Route } from '../../http/handler.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { PacedChecks } from '../paced-checks.ts';
import { parseProviderCredential } from '../provider-credentials.ts';
import { putCredential, removeCredential } from '../put-credential.ts';
import type { AppPlatformParts } from './credential-body.ts';
import { CHECKED, checked, putBody, shownCheck } from './credential-body.ts';
import { credentialState, KNOWN, stateOf } from './credential-state.ts';

const PATH = '/push-admin-api/v3/:client/apps/:id/platforms/:platform';
const reads = routesAt(PATH, { api: 'admin', needs: 'read' });
const writes = routesAt(PATH, { api: 'admin', needs: 'admin' });
const puts = routesAt(PATH, { api: 'admin', needs: 'admin', isForSuccessor: true });

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
      const parsed = await parseProviderCredential(scope.platformId, input, parts.origins);
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
      answer: shown('What it said.', checked, CHECKED),
    },
    onScope(parts.sql, async (scope, { caller: { clientId } }) => {
      const probed = await checks.run(clientId, () => parts.check(scope));
      if (probed.kind !== 'done') return NOT_NOW[probed.kind];
      return done(shownCheck(probed.value));
    }),
  );

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
