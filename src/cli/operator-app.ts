/** `tagcast app …` without `--profile`: what the operator asks for apps of any client. */

import type { PlatformId } from '../../packages/std/src/platforms.ts';
import type { Scope } from '../domain/device.ts';
import { wasNobodyAsked } from '../provider-credentials/credential-check.ts';
import { describeApps, describeStates, stateOf } from './app-text.ts';
import type { Plan } from './operator-command.ts';
import { asking, describeCredential, shownCredential } from './operator-command.ts';

const APPS = '/operator/v1/clients/{clientId}/apps';
const PLATFORMS = '/operator/v1/apps/{id}/platforms';
const PLATFORM = `${PLATFORMS}/{platform}` as const;

/** Prints the credentials of its API user. */
export const addApp = (
  clientId: string,
  app: { readonly name: string; readonly platformIds: readonly number[] },
): Plan =>
  asking(
    async (api) => {
      const body = { ...app, platformIds: [...app.platformIds] as PlatformId[] };
      const { body: made } = await api.request('POST', APPS, { path: { clientId }, body });
      const { id: appId, platformIds, apiUser } = made;
      return { appId, platformIds, credential: shownCredential(apiUser) };
    },
    ({ appId, platformIds, credential }) =>
      describeCredential(
        `App ${appId} on ${platformIds.join(', ')}. Subscriptions API:`,
        credential,
      ),
  );

export const listApps = (clientId: string): Plan =>
  asking(
    async (api) => (await api.request('GET', APPS, { path: { clientId } })).body,
    describeApps,
  );

export const showApp = (id: number): Plan =>
  asking(async (api) => {
    const { body } = await api.request('GET', PLATFORMS, { path: { id } });
    return body.map((known) => ({ appId: id, ...stateOf(known) }));
  }, describeStates);

/** Whether its provider takes the credential. */
export const checkCredential = ({ appId: id, platformId: platform }: Scope): Plan =>
  asking(
    async (api) => {
      const path = { id, platform };
      return checkedOf((await api.request('POST', `${PLATFORM}/check`, { path })).body);
    },
    ({ note }) => note,
    (checked) => checked.isHealthy !== true && !wasNobodyAsked(checked),
  );

/** `terms`: how long the one before it is kept, and when this one expires. */
export const putCredential = (
  { appId, platformId }: Scope,
  kind: string,
  credential: object,
  { expiresAtMs, ...terms }: { readonly graceHours?: number; readonly expiresAtMs?: number },
): Plan =>
  asking(
    async (api) => {
      const body = {
        ...credential,
        ...terms,
        ...(expiresAtMs === undefined ? {} : { expiresAt: expiresAtMs }),
      };
      const path = { id: appId, platform: platformId };
      const { publicNote, ...check } = (await api.request('PUT', PLATFORM, { path, body })).body;
      return { appId, platformId, checked: checkedOf(check), publicNote };
    },
    ({ checked, publicNote }) =>
      [
        `App ${appId} has ${kind} credentials. ${checked.note}`,
        ...(publicNote === null ? [] : [publicNote]),
      ].join('\n'),
    ({ checked }) => checked.isHealthy === false,
  );

/** The app has none on this platform then. */
export const removeCredential = ({ appId, platformId }: Scope, kind: string): Plan =>
  asking(
    async (api) => {
      await api.request('DELETE', PLATFORM, { path: { id: appId, platform: platformId } });
      return { appId, platformId, checked: null, publicNote: null };
    },
    () => `App ${appId} has no ${kind} credentials now.`,
  );

const checkedOf = ({ ok, note }: { readonly ok: boolean | null; readonly note: string }) => ({
  isHealthy: ok,
  note,
});
