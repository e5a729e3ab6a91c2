/**
 * Pushes in the languages that devices have as their attribute, sent by real threads to a provider
 * that fails at first: also for values that appear after the acceptance.
 */

import t from 'tap';
import { startJobsApi } from '../../support/jobs-api.ts';
import { until } from '../../support/poll.ts';
import type { ReceivedRequest } from '../../support/provider-peer.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';
import { seedDevices } from '../../support/seed.ts';
import { fanOutFor } from '../../support/sending.ts';
import { freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

t.setTimeout(240_000);

/** Devices of each kind; some are in another block. */
const EACH = 60;
const TITLES = { default: 'Goal!', de: 'Tor!', de_CH: 'Gool!', fr: 'But !' };

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
  const makeValue = async (value: string) => {
    const [row] = await store.sql<{ id: number }[]>`
      insert into attribute_values (client_id, attribute_id, value)
      values (${clientId}, -1, ${value}) returning id`;
    return row?.id ?? 0;
  };
  const id = await api.push({
    payload: { languages: '@language', title: TITLES },
    sendAt: Date.now() + 3_600_000,
  });
  const kinds = [
    { letter: 'a', value: null, title: 'Goal!' },
    { letter: 'b', value: 'de-AT', title: 'Tor!' },
    { letter: 'c', value: 'fr', title: 'But !' },
    { letter: 'd', value: 'de-CH', title: 'Gool!' },
    { letter: 'e', value: 'it', title: 'Goal!' },
  ];
  const expected = new Map<string, string>();
  for (const { letter, value, title } of kinds) {
    const deviceIds = Array.from({ length: EACH }, (_, n) =>
      letter.repeat(60).concat(n.toString(16).padStart(4, '0')),
    );
    for (const deviceId of deviceIds) expected.set(`/3/device/${deviceId}`, title);
    await seedDevices(store.sql, {
      appId,
      platformId: 3,
      tagIds: [tagId],
      count: EACH,
      deviceIds,
    });
    if (value === null) continue;
    await store.sql`
      update devices set facet_ids = array[${await makeValue(value)}::integer]
      where device_id = any (${deviceIds}::text[])`;
  }
  t.equal((await api.call('PATCH', `/${id}`, { sendAt: Date.now() })).status, 200);
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
