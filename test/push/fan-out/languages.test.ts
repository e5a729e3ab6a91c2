/**
 * Pushes in several languages, sent by real threads to a provider that fails at first: each device
 * gets its own language, also when it is tried again, and each has one outcome.
 */

import t from 'tap';
import { startJobsApi } from '../../support/jobs-api.ts';
import { makeTag } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import type { ReceivedRequest } from '../../support/provider-peer.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';
import { seedDevices } from '../../support/seed.ts';
import { fanOutFor } from '../../support/sending.ts';
import { freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

t.setTimeout(240_000);

/** Devices of each kind; some are in another block. */
const EACH = 100;
const LANGUAGES = { 'lang-de': 'de', 'lang-fr': 'fr', default: 'en' };
const TITLES = { en: 'Goal!', de: 'Tor!', fr: 'But !' };

const pathOf = ({ headers }: ReceivedRequest): string => String(headers[':path']);

const simulator = await freshSimulator();

await withStores(t, async (t, store) => {
  const tried = new Set<string>();
  const peer = await startProviderPeer({
    script: (request) => {
      const path = pathOf(request);
      const isFirst = !tried.has(path);
      tried.add(path);
      // Each third device has to be tried again.
      const isFailing = isFirst && tried.size % 3 === 0;
      if (isFailing) answer(request, 503, { reason: 'ServiceUnavailable' });
      else answer(request, 200);
    },
  });
  t.teardown(() => peer.close());
  const { accept } = await fanOutFor(t, store, simulator, {
    origins: { apnsProduction: peer.origin, ca: peer.ca, simulated: [] },
  });
  const api = await startJobsApi(t, store, 'acme', { accept });
  const { clientId, appId, tagId } = api.tenant;
  const german = await makeTag(store.sql, clientId, { sourceId: 'lang-de' });
  const french = await makeTag(store.sql, clientId, { sourceId: 'lang-fr' });
  const kinds = [
    { letter: 'a', tagIds: [], title: 'Goal!' },
    { letter: 'b', tagIds: [german], title: 'Tor!' },
    { letter: 'c', tagIds: [french], title: 'But !' },
    // The first that it has counts.
    { letter: 'd', tagIds: [french, german], title: 'Tor!' },
  ];
  const expected = new Map<string, string>();
  for (const { letter, tagIds, title } of kinds) {
    const deviceIds = Array.from({ length: EACH }, (_, n) =>
      letter.repeat(60).concat(n.toString(16).padStart(4, '0')),
    );
    for (const deviceId of deviceIds) expected.set(`/3/device/${deviceId}`, title);
    await seedDevices(store.sql, {
      appId,
      platformId: 3,
      tagIds: [tagId, ...tagIds],
      count: EACH,
      deviceIds,
    });
  }
  const id = await api.push({ payload: { languages: LANGUAGES, title: TITLES } });
  const job = await until(
    'the job has ended',
    async () => {
      const { body } = await api.call('GET', `/${id}`);
      return body.state === 'FINISHED' ? body : null;
    },
    120_000,
  );
  const devices = kinds.length * EACH;
  t.match(job, { totalCount: devices, successCount: devices, failedCount: 0, skippedCount: 0 });
  const got = new Map<string, Set<string>>();
  for (const request of peer.received) {
    const path = pathOf(request);
    const { title } = JSON.parse(request.body).aps.alert;
    got.set(path, (got.get(path) ?? new Set()).add(title));
  }
  t.equal(got.size, devices);
  t.ok(peer.received.length > devices, 'some were tried again');
  const wrong = [...got].filter(
    ([path, titles]) => titles.size !== 1 || !titles.has(expected.get(path) ?? ''),
  );
  t.strictSame(wrong, []);
});
