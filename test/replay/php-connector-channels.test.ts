/**
 * The PHP connector's channels, its requests in their order (internals/existing-clients.md, "Admin
 * API"): a channel for browsers is added with the default tag, shown, changed, used and deleted.
 */

import t from 'tap';
import { post } from '../support/client.ts';
import { until } from '../support/poll.ts';
import { connectBrowsers, dataReceived } from '../support/service.ts';
import { withSharedServices } from '../support/shared-service.ts';
import { Connector } from './connector.ts';

interface ChannelRow {
  readonly id?: number;
  readonly name: string;
  readonly platformId: number;
  readonly parameters?: Readonly<Record<string, string | null>>;
  readonly apiUser?: { readonly accessToken?: string };
}

/** The values of its form; an empty field is null. */
const PARAMETERS = {
  senderId: null,
  pushTemplate: '[{"operation":"shift","spec":{"title":"customFields.title"}}]',
  firebaseMessagingSenderId: '123456789012',
  firebaseProjectId: 'customer-web',
  firebaseApiKey: 'an-api-key-that-is-public',
  firebaseAppId: '1:123456789012:web:0123456789abcdef',
  fallbackUrl: 'https://www.customer.example',
};

await withSharedServices(t, async (t, service) => {
  const { engine, demo } = service;
  const connector = new Connector(engine.url, demo);
  const { clientId, defaultTag } = connector;
  const token = `fcm:APA91b-a_reader_of_${clientId}`;

  /** All channels; each is asked for its tag, one request after the other. */
  const channels = async (): Promise<readonly ChannelRow[]> => {
    const rows = await connector.get<readonly ChannelRow[]>(`/push-admin-api/app/get/${clientId}`);
    for (const _ of rows ?? []) {
      const path = `/push-admin-api/tag/sourceId/${defaultTag}/${clientId}`;
      t.match(await connector.get(path), { id: Number }, 'the tag of a channel has an id');
    }
    return rows ?? [];
  };
  /** PHP compares loosely: '7' is 7. */
  const websites = async () =>
    (await channels()).filter(({ platformId }) => String(platformId) === '7');
  const channel = {
    name: 'Website',
    platformId: '7',
    parameters: PARAMETERS,
    tags: [{ sourceId: defaultTag }],
  };

  let id = 0;
  let accessToken = '';
  await t.test('a channel is added, with the default tag before it', async (t) => {
    const tags = [{ name: 'General', sourceId: defaultTag }];
    t.ok(await connector.post(`/push-admin-api/tag/add/${clientId}`, { tags }));
    t.same(await websites(), []);
    t.ok(await connector.postForm(`/push-admin-api/app/add/${clientId}`, channel));
    const [row, ...others] = await websites();
    t.same(others, []);
    t.match(row, { id: Number, name: 'Website', apiUser: { accessToken: String } });
    t.match(row?.parameters, PARAMETERS, 'parameters come back as they were given');
    id = row?.id ?? 0;
    accessToken = row?.apiUser?.accessToken ?? '';
  });

  await t.test('it is changed; its id is a string from the form', async (t) => {
    const changed = {
      ...channel,
      id: String(id),
      name: 'Magazine',
      parameters: { ...PARAMETERS, fallbackUrl: 'https://magazine.customer.example' },
    };
    t.ok(await connector.postForm(`/push-admin-api/app/update/${clientId}`, changed));
    t.match(await websites(), [
      {
        id,
        name: 'Magazine',
        parameters: { fallbackUrl: 'https://magazine.customer.example' },
        apiUser: { accessToken },
      },
    ]);
  });

  await t.test('the page of the channel registers a browser, and a push reaches it', async (t) => {
    await connectBrowsers(service, id);
    const app = { appId: String(id), platformId: '7' };
    const answered = await post(`${engine.url}/push-api/tags`, accessToken, app);
    t.match(await answered.text(), new RegExp(defaultTag), 'the channel has the default tag');
    const tag = await connector.get<{ readonly id: number }>(
      `/push-admin-api/tag/sourceId/${defaultTag}/${clientId}`,
    );
    const device = { ...app, deviceId: token, tagId: [tag?.id] };
    const registered = await post(`${engine.url}/push-api/reg`, accessToken, device);
    t.equal(await registered.text(), 'OK');
    t.equal(registered.headers.get('tagcast-ignored'), null, 'nothing of it was ignored');
    const payload = JSON.stringify({ title: 'goal!', message: '1:0' });
    t.ok(await connector.post('/push-api/push', { tagSourceIds: [defaultTag], payload }));
    await until('the browser has it', async () =>
      (await dataReceived(service, token))?.['title'] === 'goal!' ? true : null,
    );
  });

  await t.test('it is deleted, and its token with it', async (t) => {
    t.ok(await connector.post(`/push-admin-api/app/delete/${clientId}`, { id: String(id) }));
    t.same(await websites(), []);
    await until('its token is refused', async () => {
      const app = { appId: String(id), platformId: '7' };
      const { status } = await post(`${engine.url}/push-api/tags`, accessToken, app);
      return status === 401 ? true : null;
    });
  });
});
