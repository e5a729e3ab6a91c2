/**
 * The values of a personal attribute: shown to callers who may know them; in no log, webhook, list
 * of values or audit log; gone with their device.
 */

import type { Test } from 'tap';
import t from 'tap';
import { post } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { startEngine } from '../support/processes.ts';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const BY_APP = 'gerbil7431';
const BY_SERVER = 'marmot7431';
const SECRETS = [BY_APP, BY_SERVER];
const [DEVICE, RENAMED] = ['ab'.repeat(32), 'cd'.repeat(32)];

t.setTimeout(120_000);

t.test('personal values are where they must be, and nowhere else', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const settings = { LOG_LEVEL: 'debug', REQUEST_LOG: 'all', WEBHOOK_PRIVATE_ADDRESSES: '1' };
  const engine = await startEngine(t, dataDir, { WORKERS: '1', ...settings });
  const receiver = await startReceiver(t);
  const { appId, tagIds, apiUser, superUser } = engine.demo();
  const admin = asker(engine, superUser.token);
  const app = (path: string, body: object) =>
    post(`${engine.baseUrl}/push-api/${path}`, apiUser.token, { appId, platformId: 3, ...body });

  await admin('POST', 'webhooks', { url: receiver.url });
  const key = (await (
    await admin('POST', 'keys', { name: 'reader', scopes: ['read'] })
  ).json()) as {
    readonly token: string;
  };
  for (const [name, personal] of [
    ['creed', true],
    ['plan', false],
  ] as const) {
    const made = await admin('POST', 'attributes', { name, type: 'text', personal });
    t.equal(made.status, 201);
  }

  const attributes = { creed: BY_APP, plan: 'gold' };
  await app('reg', { deviceId: DEVICE, tagId: tagIds[0], attributes });
  const beyond = await app('reg', { deviceId: DEVICE, attributes: { creed: BY_APP.repeat(9) } });
  t.equal(beyond.headers.get('tagcast-ignored'), 'tagId, attributes.creed', 'its name only');
  const own = await app('v3/demo/device', { deviceId: DEVICE });
  t.match(await own.json(), { attributes }, 'its app may know it');
  await app('v3/demo/devices/replace', { deviceId: DEVICE, newDeviceId: RENAMED });

  const push = await post(`${engine.baseUrl}/push-api/push`, superUser.token, {
    audience: `* && @creed = ${BY_APP}`,
    payload: { title: 'Hello' },
  });
  t.equal(push.status, 200);
  const notificationId = await push.text();
  await until('the webhook hears of both', () => {
    const types = new Set(receiver.events().map(({ type }) => type));
    return types.has('job.finished') && types.has('token.replaced') ? true : null;
  });
  const ended = receiver.events().find(({ type }) => type === 'job.finished');
  t.match(ended?.data, { successCount: 1 }, 'the test found the device');

  const bulk = `apps/${appId}/platforms/3/attributes`;
  const refused = await admin('POST', bulk, {
    devices: [{ deviceId: RENAMED, attributes: { creed: BY_SERVER.repeat(9) } }],
  });
  t.equal(refused.status, 400);
  t.notMatch(await refused.text(), BY_SERVER, 'nor is it in a refusal');
  await admin('POST', bulk, {
    devices: [{ deviceId: RENAMED, attributes: { creed: BY_SERVER } }],
  });
  const device = { platformId: 3, deviceId: RENAMED };
  const lookUp = `apps/${appId}/devices/lookup`;
  await until('it is set', async () =>
    (await (await admin('POST', lookUp, device)).text()).includes(BY_SERVER) ? true : null,
  );

  const reader = asker(engine, key.token);
  t.match(await (await reader('POST', lookUp, device)).json(), { attributes: { plan: 'gold' } });
  await isSilent(t, 'a key', [
    await reader('POST', lookUp, device),
    await reader('GET', 'attributes/creed/values'),
    await reader('POST', `apps/${appId}/devices/explain`, { ...device, notificationId }),
  ]);
  const explained = await admin('POST', `apps/${appId}/devices/explain`, {
    ...device,
    audience: '* && @creed',
  });
  t.match(await explained.json(), { because: [{}, { value: BY_SERVER, held: true }] });
  t.match(await (await admin('GET', 'attributes/plan/values')).json(), [{ value: 'gold' }]);
  t.equal((await admin('GET', 'attributes/creed/values')).status, 403);
  await isSilent(t, 'a list', [
    await admin('GET', 'attributes/creed/values'),
    await admin('GET', 'attributes'),
    await admin('GET', 'audit'),
    await admin('GET', 'webhooks/1/deliveries'),
  ]);

  t.match(await (await app('v3/demo/device/erase', { deviceId: RENAMED })).text(), 'OK');
  t.equal((await app('v3/demo/device', { deviceId: RENAMED })).status, 404);
  await app('reg', { deviceId: RENAMED });
  const registeredAgain = (await (
    await app('v3/demo/device', { deviceId: RENAMED })
  ).json()) as object;
  t.match(registeredAgain, { attributes: {}, tags: [] }, 'one that comes again knows nothing');
  t.notOk(SECRETS.some((secret) => JSON.stringify(registeredAgain).includes(secret)));

  t.equal(await engine.end('SIGTERM'), 0);
  t.match(engine.output(), '"route":"/push-api/reg"', 'the log has the requests');
  for (const secret of SECRETS) {
    t.notMatch(engine.output(), secret, 'the log');
    for (const { body } of receiver.heard) t.notMatch(body, secret, 'a webhook');
  }
});

const asker =
  ({ baseUrl }: EngineProcess, token: string) =>
  (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${baseUrl}/push-admin-api/v3/demo/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

async function isSilent(t: Test, who: string, answers: readonly Response[]): Promise<void> {
  for (const answer of answers) {
    const text = await answer.text();
    for (const secret of SECRETS) t.notMatch(text, secret, `${who}: ${answer.url}`);
  }
}
