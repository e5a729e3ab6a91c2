/**
 * "This phone did not get it": a look-up shows the outcomes of a device in the sends that it was
 * meant for, as the simulated provider answered, and why a device is gone.
 */

import { randomBytes } from 'node:crypto';
import t from 'tap';
import { finalStatus, post, push } from '../support/client.ts';
import { until } from '../support/poll.ts';
import { makeClient, sharedService } from '../support/shared-service.ts';

/** No other test has them: the simulator is to answer in its own way for some. */
const [ACCEPTED, DEAD, REFUSED, OTHER] = Array.from({ length: 4 }, () =>
  randomBytes(32).toString('hex'),
);

t.test('accepted, dead, refused, and not meant', async (t) => {
  const { engine, store, demo } = await makeClient(await sharedService());
  const { appId } = demo;
  const [tagId = 0, otherTag = 0] = demo.tagIds;
  const register = async (deviceId: string | undefined, tag: number): Promise<void> => {
    const device = { appId, platformId: 3, deviceId, tagId: tag };
    const answer = await post(`${engine.url}/push-api/reg`, demo.apiUser.token, device);
    t.equal(await answer.text(), 'OK');
  };
  const provide = (deviceId: string | undefined, answer: object) =>
    fetch(`${demo.simulator.controlUrl}/tokens/apns/${deviceId}`, {
      method: 'PUT',
      body: JSON.stringify(answer),
    });
  const lookUp = async (deviceId: string | undefined) => {
    const path = `/push-admin-api/v3/${demo.clientId}/apps/${appId}/devices/lookup`;
    const body = { platformId: 3, deviceId };
    const answer = await post(engine.url + path, demo.superUser.token, body);
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every form.
    return { status: answer.status, body: (await answer.json()) as any };
  };

  for (const deviceId of [ACCEPTED, DEAD, REFUSED]) await register(deviceId, tagId);
  await register(OTHER, otherTag);
  // So long ago that it cannot have registered again without a write.
  await store.sql`update devices set registered_at = now() - interval '3 days' where app_id = ${appId}`;
  await provide(DEAD, { status: 410, reason: 'Unregistered', timestamp: Date.now() });
  await provide(REFUSED, { status: 400, reason: 'BadDeviceToken' });
  const job = await push(engine.url, demo, [tagId]);
  await finalStatus(engine.url, demo, job);

  const failed = { kind: 'failed', notificationId: job };
  await t.test('one that was accepted', async (t) => {
    const { body } = await lookUp(ACCEPTED);
    t.match(body, { registered: true, tags: [{ id: tagId }], pending: [], events: [] });
    t.match(body.expected, [{ notificationId: job, state: 'FINISHED', outcome: 'accepted' }]);
    t.ok(body.expected[0].lastSendAt >= body.expected[0].sendAt);
  });

  await t.test('one that was refused stays, with what was answered', async (t) => {
    const { body } = await lookUp(REFUSED);
    t.match(body, { registered: true, events: [{ ...failed, reason: 'BadDeviceToken' }] });
    t.equal(body.events.length, 1);
    t.match(body.expected, [
      { notificationId: job, outcome: 'failed', reason: 'BadDeviceToken', at: Number },
    ]);
  });

  await t.test('one that is dead is removed, and the look-up says why', async (t) => {
    const { body } = await until('it is removed', async () => {
      const answer = await lookUp(DEAD);
      return answer.body.registered ? null : answer;
    });
    t.strictSame(Object.keys(body).sort(), ['deviceId', 'events', 'registered']);
    const kinds = new Map(body.events.map((event: { kind: string }) => [event.kind, event]));
    t.match(kinds.get('failed'), { ...failed, reason: 'Unregistered' });
    t.match(kinds.get('removed'), { notificationId: job, reason: 'dead', at: Number });
    t.equal(kinds.size, 2);
  });

  await t.test('one that it was not meant for is not expected to have it', async (t) => {
    t.same((await lookUp(OTHER)).body.expected, []);
    t.equal((await lookUp('e'.repeat(64))).status, 404, 'one that never was');
  });

  await t.test('it registers again: what was, stays; erased: nothing is left', async (t) => {
    await register(DEAD, tagId);
    const { body } = await lookUp(DEAD);
    t.match(body, { registered: true, events: [{}, {}] });
    const path = `/push-admin-api/v3/${demo.clientId}/apps/${appId}/devices/erase`;
    await post(engine.url + path, demo.superUser.token, { platformId: 3, deviceId: DEAD });
    t.equal((await lookUp(DEAD)).status, 404);
  });

  await t.test('one that was replaced', async (t) => {
    const body = { appId, platformId: 3, deviceId: OTHER, newDeviceId: 'f'.repeat(64) };
    const path = `/push-api/v3/${demo.clientId}/devices/replace`;
    t.equal((await post(engine.url + path, demo.apiUser.token, body)).status, 200);
    const { body: found } = await lookUp(OTHER);
    t.match(found, { registered: false, events: [{ kind: 'replaced', at: Number }] });
  });

  const rows = await store.sql`
    select kind from device_events join devices using (device_key, app_id, platform_id)
    where device_id = ${ACCEPTED ?? ''}`;
  t.same([...rows], [], 'nothing is written of what was accepted');
});
