/**
 * The PHP connector of the public service, its requests in their order
 * (internals/existing-clients.md, "Notification API" and "Admin API"): its settings page, its
 * default tag, a push, what has become of it. Its channels: php-connector-channels.test.ts.
 */

import t from 'tap';
import { post } from '../support/client.ts';
import { pageOf } from '../support/page.ts';
import { until } from '../support/poll.ts';
import { addWebsite, dataReceived } from '../support/service.ts';
import { withSharedServices } from '../support/shared-service.ts';
import { Connector } from './connector.ts';

interface HistoryRow {
  readonly id: string;
  readonly userName: string;
  readonly status: unknown;
  readonly time: number;
}

interface DetailsRow {
  readonly key: { readonly id: string; readonly platformId: number };
  readonly state: string;
  readonly totalCount: number;
  readonly successCount: number;
}

await withSharedServices(t, async (t, service) => {
  const { engine, demo } = service;
  const website = await addWebsite(service);
  const connector = new Connector(engine.url, demo);
  const { clientId, defaultTag } = connector;
  const token = `fcm:APA91b-a_reader_of_${clientId}`;

  await t.test('the settings page tests user and password from the browser', async (t) => {
    const page = pageOf('https://cms.customer.example');
    const test = (password: string) =>
      page(`${engine.url}/push-admin-api/endpoints/get`, 'GET', {
        Authorization: `Basic ${btoa(`${demo.superUser.username}:${password}`)}`,
      });
    t.ok((await test(demo.superUser.password)).ok, '"Connection success"');
    t.notOk((await test('wrong')).ok, 'a wrong password: the page sees that, too');
  });

  let tagId = 0;
  await t.test('the default tag is added before every use, and looked up', async (t) => {
    const add = () =>
      connector.post(`/push-admin-api/tag/add/${clientId}`, {
        tags: [{ name: 'General', sourceId: defaultTag }],
      });
    const find = () =>
      connector.get<{ readonly id: number }>(
        `/push-admin-api/tag/sourceId/${defaultTag}/${clientId}`,
      );
    t.equal(await find(), null, 'it is not there yet');
    t.ok(await add());
    const found = await find();
    tagId = found?.id ?? 0;
    t.ok(tagId > 0);
    t.ok(await add());
    t.equal((await find())?.id, tagId, 'it is the same one');
  });

  await t.test('a tag is moved and gets an end; its name is left out', async (t) => {
    t.ok(
      await connector.post(`/push-admin-api/tag/add/${clientId}`, {
        tags: [{ name: 'Election night', sourceId: 'election' }],
        groups: [{ name: 'Politics', sourceId: 'politics' }],
      }),
    );
    const expiration = Date.now() + 86_400_000;
    const tags = [{ sourceId: 'election', groupSourceId: 'politics', expiration }];
    t.ok(await connector.post(`/push-admin-api/tag/update/${clientId}`, { tags }));
    t.match(await connector.get(`/push-admin-api/tag/sourceId/election/${clientId}`), {
      name: 'Election night',
      expiration,
    });
    const groups = [{ sourceId: 'politics' }];
    t.notOk(
      await connector.post(`/push-admin-api/tag/delete/${clientId}`, { groups }),
      'a group with a tag stays',
    );
    t.ok(
      await connector.post(`/push-admin-api/tag/delete/${clientId}`, {
        tags: [{ sourceId: 'election' }],
      }),
    );
    t.ok(await connector.post(`/push-admin-api/tag/delete/${clientId}`, { groups }));
  });

  await t.test('a push to the default tag, its payload as JSON in a string', async (t) => {
    const device = { appId: website.appId, platformId: 7, deviceId: token, tagId };
    t.equal((await post(`${engine.url}/push-api/reg`, website.apiUser.token, device)).status, 200);
    // The payload in the form of PHP's json_encode with JSON_HEX_TAG.
    const payload = String.raw`{"title":"\u003Cgoal\u003E","message":"1:0","url":"https:\/\/www.customer.example\/"}`;
    t.ok(await connector.post('/push-api/push', { tagSourceIds: [defaultTag], payload }));
  });

  await t.test('the history, and the details of its first row', async (t) => {
    const page = (number: number) =>
      connector.get<readonly HistoryRow[]>(
        `/push-admin-api/history/get/${clientId}?page=${number}&count=20`,
      );
    const [job] = (await page(1)) ?? [];
    t.match(job, { id: String, userName: demo.superUser.username, time: Number });
    t.ok(Math.abs((job?.time ?? 0) - Date.now()) < 3_600_000, 'the time is in milliseconds');
    t.ok('status' in (job ?? {}), 'the connector encodes it as it is');
    t.same(await page(2), [], 'past the end the list is empty');
    const details = () => connector.get<readonly DetailsRow[]>(`/push-api/status/${job?.id}`);
    const rows = await until('the job has ended', async () => {
      const rows = (await details()) ?? [];
      return rows.length > 0 && rows.every(({ state }) => /^(?:FINISHED|FAILED)$/.test(state))
        ? rows
        : null;
    });
    const row = rows.find(({ key }) => key.platformId === 7);
    t.match(row, { key: { id: job?.id }, state: 'FINISHED', totalCount: 1, successCount: 1 });
    t.match(await dataReceived(service, token), { title: '<goal>', message: '1:0' });
    t.equal(await connector.get('/push-api/status/nothing'), null, 'an unknown job is no row');
  });
});
