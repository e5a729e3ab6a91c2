/**
 * The browser SDK of the public service, its requests in its order (internals/existing-clients.md,
 * "Who may call" and "App API"): a page of another origin, the API key of the app, ids as strings.
 */

import type { Test } from 'tap';
import t from 'tap';
import type { PushPayload } from '../support/client.ts';
import { finalStatus, push } from '../support/client.ts';
import { pageOf } from '../support/page.ts';
import type { Service } from '../support/service.ts';
import { addWebsite, dataReceived } from '../support/service.ts';
import { withSharedServices } from '../support/shared-service.ts';

interface SdkTag {
  readonly id: number;
  readonly name: string;
  readonly sourceId?: string;
}

interface SdkGroup {
  readonly id?: number;
  readonly name: string;
  readonly sourceId?: string;
  readonly tags: readonly SdkTag[];
  readonly groups: readonly SdkGroup[];
}

const PAGE = 'https://www.customer.example';
/** The SDK's own name for its version. */
const APP_VERSION = 'webclient-3.0';

/** The App API as the SDK calls it. */
class Sdk {
  readonly #fetch = pageOf(PAGE);
  readonly #baseUrl: string;
  readonly #accessToken: string;
  /** From the page's settings: strings. */
  readonly #app: { readonly appId: string; readonly platformId: string };

  constructor(baseUrl: string, accessToken: string, appId: number) {
    this.#baseUrl = `${baseUrl}/push-api/`;
    this.#accessToken = accessToken;
    this.#app = { appId: String(appId), platformId: '7' };
  }

  tags = (): Promise<readonly SdkGroup[]> => this.#call('tags', {});
  list = (deviceId: string): Promise<readonly SdkTag[]> => this.#call('list', { deviceId });
  /** `tagId`: whatever the SDK has at hand. */
  subscribe = (deviceId: string, tagId: unknown): Promise<string> =>
    this.#call('reg', { deviceId, tagId, appVersion: APP_VERSION });
  unsubscribe = (deviceId: string, tagId: unknown): Promise<string> =>
    this.#call('ureg', { deviceId, tagId });

  async #call<T>(endpoint: string, more: object): Promise<T> {
    const headers = {
      Authorization: `Bearer ${this.#accessToken}`,
      'Content-Type': 'application/json; charset=utf-8',
    };
    const body = JSON.stringify({ ...this.#app, ...more });
    const answer = await this.#fetch(this.#baseUrl + endpoint, 'POST', headers, body);
    if (!answer.ok) throw new Error('Error on endpoint');
    const text = await answer.text();
    try {
      return JSON.parse(text) as T;
    } catch {
      return text as T;
    }
  }
}

/** Every page reads the tags like this: it looks into the groups of each group with a sourceId. */
function allTags(groups: readonly SdkGroup[]): readonly SdkTag[] {
  return groups.flatMap((group) => [
    ...group.tags,
    ...(group.sourceId === undefined ? [] : allTags(group.groups)),
  ]);
}

await withSharedServices(t, async (t, service) => {
  const { appId, apiUser } = await addWebsite(service);
  const sdk = new Sdk(service.engine.url, apiUser.token, appId);
  const token = `fcm:APA91b-first_token_of_${service.demo.clientId}`;
  const refreshed = `fcm:APA91b-second_token_of_${service.demo.clientId}`;

  await t.test('the view of the settings shows the tags', async (t) => {
    const groups = await sdk.tags();
    const [first, ...named] = groups;
    t.match(first, { name: 'default', tags: [{ id: Number, name: 'Breaking news' }] });
    t.notOk('id' in (first ?? {}) || 'groups' in (first ?? {}), 'default has no id and no groups');
    t.match(named, [{ id: Number, name: 'Sports', sourceId: 'sports', tags: [{}], groups: [{}] }]);
    t.strictSame(named[0]?.groups[0]?.groups, [], 'groups are there when there are none');
    t.equal(allTags(groups).length, 4);
    for (const { id } of allTags(groups)) {
      const attribute = String(id);
      t.ok(id === Number.parseInt(attribute, 10), 'an id is the number in the attribute');
    }
  });

  await t.test('a first visit: the default tags of the settings', async (t) => {
    const [breaking = 0, tennis = 0] = service.demo.tagIds;
    t.same(await sdk.list(token), [], 'nobody knows this browser');
    t.equal(await sdk.subscribe(token, defaultsIn('')), 'OK', 'no default tags: [""]');
    t.same(await sdk.list(token), []);
    t.equal(await sdk.subscribe(token, defaultsIn(`${breaking},${tennis}`)), 'OK');
    t.same(idsOf(await sdk.list(token)), [breaking, tennis]);
  });

  await t.test('a box is ticked, and unticked: one id as a string', async (t) => {
    const goals = await findTag(sdk, 'football-goals');
    t.equal(await sdk.subscribe(token, String(goals)), 'OK');
    t.ok((await sdk.list(token)).some(({ id }) => id === Number.parseInt(String(goals), 10)));
    t.equal(await sdk.unsubscribe(token, String(goals)), 'OK');
    t.notOk(idsOf(await sdk.list(token)).includes(goals));
  });

  await t.test('a tag by its sourceId, which the SDK looks up itself', async (t) => {
    const results = await findTag(sdk, 'football-results');
    t.equal(await sdk.subscribe(token, [results]), 'OK');
    t.ok(idsOf(await sdk.list(token)).includes(results));
  });

  await t.test('a push arrives with the data that the worker shows', async (t) => {
    const row = await pushToWebsite(t, service, appId, {
      title: 'goal!',
      message: '1:0',
      url: 'https://www.customer.example/goal',
      icon: 'https://www.customer.example/icon.png',
    });
    t.match(row, { state: 'FINISHED', totalCount: 1, successCount: 1 });
    t.match(await dataReceived(service, token), {
      title: 'goal!',
      message: '1:0',
      url: 'https://www.customer.example/goal',
      icon: 'https://www.customer.example/icon.png',
    });
  });

  await t.test('a new token takes over: whole tags as list has told them', async (t) => {
    const before = await sdk.list(token);
    t.ok(before.length > 0);
    t.equal(await sdk.unsubscribe(token, before), 'OK');
    t.equal(await sdk.subscribe(refreshed, before), 'OK');
    t.same(await sdk.list(token), []);
    t.same(await sdk.list(refreshed), before);
  });

  await t.test('the permission is lost, and given again', async (t) => {
    const before = await sdk.list(refreshed);
    t.equal(await sdk.unsubscribe(refreshed, before), 'OK');
    t.same(await sdk.list(refreshed), []);
    t.equal(await sdk.subscribe(refreshed, idsOf(before)), 'OK');
    t.same(await sdk.list(refreshed), before);
  });

  await t.test('everything is cancelled, also when there is nothing', async (t) => {
    t.equal(await sdk.unsubscribe(refreshed, idsOf(await sdk.list(refreshed))), 'OK');
    t.same(await sdk.list(refreshed), []);
    t.equal(await sdk.unsubscribe(refreshed, []), 'OK');
    const row = await pushToWebsite(t, service, appId, { title: 'nobody is there' });
    t.match(row, { state: 'FINISHED', totalCount: 0 });
  });
});

/** The SDK's reading of a setting: `Number(t) || t` of what stands between the commas. */
function defaultsIn(setting: string): readonly (number | string)[] {
  return setting.split(',').map((tag) => Number(tag) || tag);
}

function idsOf(tags: readonly SdkTag[]): readonly number[] {
  return tags.map(({ id }) => id);
}

async function findTag(sdk: Sdk, sourceId: string): Promise<number> {
  const found = allTags(await sdk.tags()).find((tag) => tag.sourceId === sourceId);
  if (found === undefined) throw new Error(`there is no ${sourceId}`);
  return found.id;
}

/** Pushes to all tags on the website alone; the row of it when the push has ended. */
async function pushToWebsite(
  t: Test,
  { engine, demo }: Service,
  appId: number,
  payload: PushPayload,
) {
  const job = await push(engine.url, demo, demo.tagIds, payload, { appIds: [appId] });
  const rows = await finalStatus(engine.url, demo, job);
  t.equal(rows.length, 1);
  return rows[0];
}
