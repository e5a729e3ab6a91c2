/** `tagcast app … --profile`: the apps of the profile's client, over HTTP. */

import type { App, ProviderCredential } from '../../../packages/client/src/openapi.ts';
import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import type { Scope } from '../../domain/device.ts';
import { tableRow, visibleField } from '../../std/visible-text.ts';
import { describeStates, stateOf } from '../app-text.ts';
import { UsageError } from '../arguments.ts';
import { EXIT_FAILED } from '../command.ts';
import { describeCredential } from '../operator-command.ts';
import type { Outcome, Session, Work } from './publisher-command.ts';

const APPS = '/push-admin-api/v3/{client}/apps';
const ONE = '/push-admin-api/v3/{client}/apps/{id}';
const PLATFORM = '/push-admin-api/v3/{client}/apps/{id}/platforms/{platform}';

/** Prints the credentials of its API user, this once. */
export const addApp =
  (app: { readonly name: string; readonly platformIds: readonly number[] }): Work =>
  async ({ tagcast, signal }) => {
    const body = { ...app, platformIds: [...app.platformIds] as PlatformId[] };
    const { body: made } = await tagcast.request('POST', APPS, { body, signal });
    const { userName: username, password, token } = made.apiUser;
    const title = `App ${made.id} on ${made.platformIds.join(', ')}. Subscriptions API:`;
    return { value: made, text: describeCredential(title, { username, password, token }) };
  };

export async function listApps({ tagcast, signal }: Session): Promise<Outcome> {
  const apps: App[] = [];
  for await (const app of tagcast.rows(APPS, { signal })) apps.push(app);
  return {
    value: apps,
    text: apps.length === 0 ? 'There is no app.' : apps.map(describe).join('\n'),
  };
}

export const showApp =
  (id: number): Work =>
  async (session) => {
    const { tagcast, signal } = session;
    const app = await appOf(session, id);
    const credentials: ProviderCredential[] = [];
    for (const platform of app.platformIds) {
      const path = { id, platform };
      credentials.push((await tagcast.request('GET', PLATFORM, { path, signal })).body);
    }
    const text = [describe(app), describeStates(credentials.map(stateOf))].join('\n');
    return { value: { ...app, credentials }, text };
  };

/** `platformIds`: those that it is put on, besides those that it is on. */
export const updateApp =
  (id: number, name: string | undefined, platformIds: readonly number[]): Work =>
  async (session) => {
    if (name === undefined && platformIds.length === 0)
      throw new UsageError('nothing to change was given');
    const { tagcast, signal } = session;
    const { platformIds: present } = await appOf(session, id);
    const all = [...new Set([...present, ...(platformIds as readonly PlatformId[])])];
    const body = { ...(name === undefined ? {} : { name }), platformIds: all };
    const changed = await tagcast.request('PATCH', ONE, { path: { id }, body, signal });
    return { value: changed.body, text: describe(changed.body) };
  };

/** `confirmed`: the name of the app, as somebody has read it. */
export const deleteApp =
  (id: number, confirmed: string | undefined): Work =>
  async (session) => {
    const { tagcast, signal } = session;
    const { name } = await appOf(session, id);
    if (confirmed !== name) {
      const shown = JSON.stringify(name);
      throw new UsageError(
        `App ${id} is ${shown}. To delete it with its devices, for good: --confirm ${shown}`,
      );
    }
    await tagcast.request('DELETE', ONE, { path: { id }, signal });
    return { value: { deleted: id }, text: `App ${id} ${visibleField(name)} is deleted.` };
  };

export const checkCredential =
  ({ appId: id, platformId: platform }: Scope<PlatformId>): Work =>
  async ({ tagcast, signal }) => {
    const path = { id, platform };
    const { body } = await tagcast.request('POST', `${PLATFORM}/probe`, { path, signal });
    return { value: body, text: visibleField(body.note), ...(body.ok === false ? REFUSED : {}) };
  };

/** `terms`: the fields of its provider, and how long the one before it is kept. */
export const putCredential =
  (
    { appId: id, platformId: platform }: Scope<PlatformId>,
    { expiresAtMs, ...terms }: { readonly expiresAtMs?: number },
  ): Work =>
  async ({ tagcast, signal }) => {
    const body = { ...terms, ...(expiresAtMs === undefined ? {} : { expiresAt: expiresAtMs }) };
    const path = { id, platform };
    const put = (await tagcast.request('PUT', PLATFORM, { path, body, signal })).body;
    const isRefused = put.check?.ok === false;
    return { value: put, text: describeStates([stateOf(put)]), ...(isRefused ? REFUSED : {}) };
  };

/** The app has none on this platform then. */
export const removeCredential =
  ({ appId: id, platformId: platform }: Scope<PlatformId>): Work =>
  async ({ tagcast, signal }) => {
    await tagcast.request('DELETE', PLATFORM, { path: { id, platform }, signal });
    const text = `App ${id} has no credentials on platform ${platform} now.`;
    return { value: { id, platformId: platform, hasCredential: false }, text };
  };

/** The provider does not take the credential. */
const REFUSED = { exitCode: EXIT_FAILED };

const appOf = async ({ tagcast, signal }: Session, id: number): Promise<App> =>
  (await tagcast.request('GET', ONE, { path: { id }, signal })).body;

const describe = ({ id, name, platformIds }: App): string =>
  tableRow(id, name, platformIds.join(', '));
