/** A provider that is down and comes back, as a client sees it. */

import t from 'tap';
import { until } from '../../../support/poll.ts';
import { control, simulate } from '../peer.ts';
import { countEnds, dial } from '../witness.ts';

t.test('connections are closed, then refused, then answered 503, then all is well', async (t) => {
  const simulator = await simulate(t, { latencyMs: 60_000, maxConcurrentStreams: 10 });
  const { push, closed } = await dial(t, simulator);
  const unanswered = push(1);
  await until('the push has come', async () => {
    const { json } = await control<{ apns: { accepted: number } }>(simulator, 'GET /state');
    return json.apns.accepted === 1 ? true : null;
  });
  const outage = { afterMs: 0, closedMs: 600, unavailableMs: 600_000 };
  await control(simulator, 'PUT /behaviour', { outage, latencyMs: 0 });
  t.match(await unanswered, { kind: 'failed', isUnprocessed: false });
  await closed;
  const { json } = await control<{ apns: object }>(simulator, 'GET /state');
  t.match(json.apns, { accepted: 1, lostAnswers: 1 });

  let refusals = 0;
  const next = await until('it opens again', async () => {
    try {
      return await dial(t, simulator);
    } catch {
      refusals += 1;
      return null;
    }
  });
  t.ok(refusals > 0, 'it was closed');
  t.match(await next.push(2), { status: 503, body: '{"reason":"ServiceUnavailable"}' });
  await control(simulator, 'PUT /behaviour', { outage: null });
  t.match(await next.push(2), { status: 200 });
});

t.test('it is over by itself, and can be set again', async (t) => {
  const outage = { afterMs: 0, closedMs: 0, unavailableMs: 200 };
  const simulator = await simulate(t, { maxConcurrentStreams: 10 });
  const { push } = await dial(t, simulator);
  const seen = new Set<number>();
  const pushUntil = (status: number) =>
    until(`a ${status}`, async () => {
      // A connection that is being opened as the outage begins is closed, however short it is.
      const client = await dial(t, simulator).catch(() => null);
      if (client === null) return null;
      const end = await client.push(1);
      client.witness.destroy('seen');
      if (end.kind === 'answered') seen.add(end.status);
      return end.kind === 'answered' && end.status === status ? true : null;
    });
  t.same(countEnds([await push(1)]), { 200: 1 });
  for (let round = 0; round < 2; round += 1) {
    await control(simulator, 'PUT /behaviour', { outage });
    await pushUntil(503);
    await pushUntil(200);
  }
  t.same([...seen].sort(), [200, 503]);
  await control(simulator, 'PUT /behaviour', { outage: { ...outage, unavailableMs: 600_000 } });
  await pushUntil(503);
  await control(simulator, 'POST /reset');
  await pushUntil(200);
});
