/** The operator's routes of an app's provider credentials: put, seen, taken away, checked. */

import { z } from 'zod';
import { secretKeyFault } from '../../access/credentials.ts';
import { operatorOrigin } from '../../audit/operator-origin.ts';
import { SCOPE_PATH } from '../../catalogue/routes/app-on-platform.ts';
import { findAppClient } from '../../clients/find-app.ts';
import type { Scope } from '../../domain/device.ts';
import { noContent, shown } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { pathId } from '../../http/parameters.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { providerOf } from '../../providers/providers.ts';
import { parseProviderCredential } from '../provider-credentials.ts';
import { putCredential, removeCredential } from '../put-credential.ts';
import type { AppPlatformParts } from './credential-body.ts';
import { CHECKED, checked, putBody, shownCheck } from './credential-body.ts';
import { credentialState, KNOWN, statesOf } from './credential-state.ts';

const APP = '/operator/v1/apps/:id/platforms';
const route = routesAt(APP, { api: 'operator' });
const ofApp = { id: pathId('app', 1, refused(404, 'There is no app with this id.')) };
const path = { ...SCOPE_PATH, ...ofApp };

const putAnswer = checked.extend({
  publicNote: z.string().nullable().meta({
    description: 'What its apps need to know of it, without a full stop; null: nothing.',
  }),
});

const noSuchApp = ({ appId, platformId }: Scope) =>
  refused(404, `There is no app ${appId} on platform ${platformId}.`);

export const appCredentialRoutes = (parts: AppPlatformParts): readonly Route[] =>
  [listRoute, putRoute, removeRoute, checkRoute].map((make) => make(parts));

const listRoute = (parts: AppPlatformParts) =>
  route.get(
    'listAppCredentials',
    {
      summary: "Read the states of an app's provider credentials",
      path: ofApp,
      answer: shown('Of each platform, without secrets.', z.array(credentialState), [KNOWN]),
    },
    async ({ path: { id } }) => {
      const states = await statesOf(parts, id);
      return states.length === 0 ? refused(404, `There is no app ${id}.`) : done(states);
    },
  );

const putRoute = (parts: AppPlatformParts) =>
  route.put(
    'putAppCredential',
    {
      at: ':platform',
      summary: 'Put a provider credential of an app, and have it checked',
      description:
        'The fields are those of its provider. It is stored encrypted, and even if the provider refuses it. `409`: engines have another `SECRET_KEY`.',
      path,
      body: putBody,
      answer: shown('Stored: what the provider says.', putAnswer, {
        ...CHECKED,
        publicNote: null,
      }),
      problems: [409],
    },
    async ({ path: { id: appId, platform: platformId }, body: { input, terms }, request }) => {
      const scope = { appId, platformId };
      const client = await findAppClient(parts.sql, appId);
      if (client === null) return noSuchApp(scope);
      const parsed = await parseProviderCredential(platformId, input, parts.origins);
      if (!parsed.ok) return refuse.invalid(parsed.faults);
      const fault = await secretKeyFault(parts.sql, parts.secrets);
      if (fault !== null) return refused(409, fault);
      const { credential } = parsed;
      const origin = operatorOrigin(client.clientId, request);
      const result = await putCredential(parts, origin, scope, credential, terms);
      if (result === null) return noSuchApp(scope);
      const publicNote = providerOf(credential).publicNote(credential);
      return done({ ...shownCheck(result), publicNote });
    },
  );

const removeRoute = (parts: AppPlatformParts) =>
  route.delete(
    'removeAppCredential',
    {
      at: ':platform',
      summary: 'Remove a provider credential of an app',
      description: 'And the one before it.',
      path,
      answer: noContent('Removed.'),
    },
    async ({ path: { id: appId, platform: platformId }, request }) => {
      const scope = { appId, platformId };
      const client = await findAppClient(parts.sql, appId);
      if (client === null) return noSuchApp(scope);
      const origin = operatorOrigin(client.clientId, request);
      const isOn = await removeCredential(parts, origin, scope);
      return isOn ? done(null) : noSuchApp(scope);
    },
  );

const checkRoute = (parts: AppPlatformParts) =>
  route.post(
    'checkAppCredential',
    {
      at: ':platform/check',
      summary: 'Ask the provider whether it accepts the credential of an app',
      description: 'With a push for a device that cannot exist.',
      path,
      answer: shown('What it said.', checked, CHECKED),
    },
    async ({ path: { id: appId, platform: platformId } }) => {
      const scope = { appId, platformId };
      const states = await statesOf(parts, appId);
      if (!states.some((state) => state.platformId === platformId)) return noSuchApp(scope);
      return done(shownCheck(await parts.check(scope)));
    },
  );
