/** One message to one device, over HTTP, by a real fan-out's right to send. */

import t from 'tap';
import type { Shown } from '../../../packages/simulator/src/record/screens.ts';
import { deliveries } from '../../support/client.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';
import { fanOutFor } from '../../support/sending.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { temporaryStore } from '../../support/store.ts';

const DEVICE = 'ab'.repeat(32);
const store = await temporaryStore(t);
const simulator = await freshSimulator();
const { testSends } = await fanOutFor(t, store, simulator);

t.test('the provider accepts it, and nobody else gets it', async (t) => {
  await behave(simulator, {});
  const api = await startJobsApi(t, store, 'tries', { testSends });
  const { appId } = api.tenant;
  const body = { appId, platformId: 3, deviceId: DEVICE.toUpperCase(), payload: { title: 'hi' } };
  const tried = await api.call('POST', '/test', body);
  t.equal(tried.status, 200);
  t.strictSame(tried.body, { accepted: true, simulated: true });
  t.same(await deliveries(simulator.controlUrl, 'apns'), { tokens: 1, times: { 1: 1 } });
  const received = await fetch(`${simulator.controlUrl}/received/apns/${DEVICE}`);
  t.match(await received.json(), { accepted: 1 });
  t.same((await api.call('GET', '')).body, [], 'it is no job');
});

t.test('what the phone will not do is said', async (t) => {
  await behave(simulator, {});
  const api = await startJobsApi(t, store, 'warned', { testSends });
  const { appId } = api.tenant;
  const body = { appId, platformId: 3, deviceId: DEVICE, payload: { data: { a: 1 } } };
  const tried = await api.call('POST', '/test', body);
  t.match(tried.body, { accepted: true, warnings: [/^On iOS this does nothing/] });
});

t.test('a trial replaces no other, unless they share a collapseId', async (t) => {
  await behave(simulator, { keepsShown: true });
  const send = async (slug: string, payload: object) => {
    const api = await startJobsApi(t, store, slug, { testSends });
    const { appId } = api.tenant;
    const body = { appId, platformId: 3, deviceId: DEVICE, payload };
    t.match((await api.call('POST', '/test', body)).body, { accepted: true });
  };
  await send('first', { title: 'a' });
  await send('second', { title: 'a' });
  await send('third', { title: '1:0', collapseId: 'match-7' });
  await send('fourth', { title: '1:1', collapseId: 'match-7' });
  const response = await fetch(`${simulator.controlUrl}/shown/apns/${DEVICE}`);
  const [one, two, ...rest] = (await response.json()) as readonly Shown[];
  t.match([one, two], [{ identity: one?.pushId }, { identity: two?.pushId }]);
  t.not(one?.identity, two?.identity);
  t.match(rest, [{ identity: 'match-7', title: '1:1' }]);
  t.equal(rest.length, 1);
});

t.test('APNs takes each kind of push under its labels', async (t) => {
  await behave(simulator, {});
  const data = { a: 'x'.repeat(3_000) };
  const payloads = {
    voip: { apnsPushType: 'voip', data: { a: 'x'.repeat(4_800) } },
    complication: { apnsPushType: 'complication', data },
    location: { apnsPushType: 'location', data },
    pushtotalk: { apnsPushType: 'pushtotalk', data },
    woken: { data, apns: { aps: { 'content-available': 1 } } },
    shown: { silent: true, data, apns: { aps: { alert: 'a' } } },
  };
  for (const [slug, payload] of Object.entries(payloads)) {
    const api = await startJobsApi(t, store, slug, { testSends });
    const { appId } = api.tenant;
    const tried = await api.call('POST', '/test', {
      appId,
      platformId: 3,
      deviceId: DEVICE,
      payload,
    });
    t.strictSame(tried.body, { accepted: true, simulated: true }, slug);
  }
});

t.test('its refusal is told, with what it means', async (t) => {
  const peer = await startProviderPeer({
    script: (request) => answer(request, 400, { reason: 'BadTopic' }),
  });
  t.teardown(() => peer.close());
  const { testSends } = await fanOutFor(t, store, simulator, {
    origins: { apnsProduction: peer.origin, ca: peer.ca, simulated: [] },
  });
  const api = await startJobsApi(t, store, 'refused', { testSends });
  const { appId } = api.tenant;
  const body = { appId, platformId: 3, deviceId: DEVICE, payload: { title: 'hi' } };
  const tried = await api.call('POST', '/test', body);
  t.equal(tried.status, 200);
  t.match(tried.body, {
    accepted: false,
    reason: 'BadTopic',
    outcome: String,
    meaning: /BadTopic/,
  });
  t.notOk('simulated' in tried.body);
  t.equal(peer.received.length, 1);
});

t.test('without a credential nobody is asked, and that is told', async (t) => {
  const credentials = () => Promise.resolve(null);
  const { testSends } = await fanOutFor(t, store, simulator, { credentials });
  const api = await startJobsApi(t, store, 'bare', { testSends });
  const { appId } = api.tenant;
  const body = { appId, platformId: 15, deviceId: 'token', payload: { title: 'hi' } };
  t.match(await api.call('POST', '/test', body), {
    status: 200,
    body: {
      accepted: false,
      outcome: 'bad-credential',
      reason: 'MissingCredential',
      meaning: /no credential on this platform/,
    },
  });
});

t.test('one a second of a client', async (t) => {
  const api = await startJobsApi(t, store, 'hasty');
  const { appId } = api.tenant;
  const body = { appId, platformId: 3, deviceId: DEVICE, payload: { title: 'hi' } };
  const [one, two] = await Promise.all([
    api.call('POST', '/test', body),
    api.call('POST', '/test', body),
  ]);
  const [first, second] = [one, two].sort((a, b) => a.status - b.status);
  t.equal(first?.status, 200);
  t.equal(second?.status, 429);
  t.equal(second?.headers.get('retry-after'), '1');
});

t.test('what is not valid, and what is not his, is refused before anybody is asked', async (t) => {
  const api = await startJobsApi(t, store, 'strict');
  const stranger = await startJobsApi(t, store, 'foreign');
  const { appId, tagId } = api.tenant;
  const good = { appId, platformId: 3, deviceId: DEVICE, payload: { title: 'hi' } };
  const faults = async (body: unknown) => {
    const { status, body: answered } = await api.call('POST', '/test', body);
    t.equal(status, 400, JSON.stringify(body).slice(0, 100));
    return answered.errors;
  };
  t.match(await faults({ ...good, deviceId: '' }), [{ path: 'deviceId' }]);
  t.match(await faults({ ...good, deviceId: 'a\0' }), [{ path: 'deviceId' }]);
  t.match(await faults({ appId, platformId: 3 }), [
    { path: 'deviceId', message: /is missing; it must be a string of 1–4096/ },
    { path: 'payload', message: /is missing; it must be an object/ },
  ]);
  t.match(await faults({ ...good, payload: {} }), [{ path: 'payload', message: /shows nothing/ }]);
  t.match(await faults({ ...good, payload: { badge: -1 } }), [{ path: 'payload.badge' }]);
  t.match(await faults({ ...good, payload: { title: 'x'.repeat(5_000) } }), [
    { path: 'payload', message: /4096/ },
  ]);
  t.match(await faults({ ...good, tagIds: [1] }), [{ path: 'tagIds' }]);

  const status = async (body: unknown, token?: string) =>
    (await api.call('POST', '/test', body, token)).status;
  t.equal(await status({ ...good, appId: stranger.tenant.appId }), 404);
  t.equal(await status({ ...good, platformId: 7 }), 404, 'the app is not on it');
  t.equal(await status(good, await api.key({ scopes: ['read'] })), 403);
  t.equal(await status(good, await api.key({ scopes: ['send'], tagIds: [tagId] })), 403);
  t.equal(await status(good, await api.key({ scopes: ['send'], appIds: [appId + 1] })), 403);
  t.equal(await status(good, await api.key({ scopes: ['send'], appIds: [appId] })), 200);
});
