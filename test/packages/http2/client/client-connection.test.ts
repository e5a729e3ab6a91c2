import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import t from 'tap';
import type { RequestForm } from '../../../../packages/http2/src/client/request-form.ts';
import { goAway, headers, octetsOf, settings } from '../../../support/http2/frames.ts';
import { someHarmedPlan, somePlan } from '../../../support/http2/played/plan.ts';
import { play } from '../../../support/http2/played/play.ts';
import { playHarmed } from '../../../support/http2/played/play-harmed.ts';
import { GET, RecordedClient } from '../../../support/http2/recorded-client.ts';
import { SlowSocket } from '../../../support/http2/slow-socket.ts';

/** The same runs take minutes with `npm run fuzz`. */
const RUNS = 300;

t.test('whatever a lawful server does, each request ends as it must', async () => {
  await fc.assert(fc.asyncProperty(somePlan, play), { numRuns: RUNS });
});

t.test('whatever happens to its frames, no request ends as none was meant', async () => {
  await fc.assert(fc.asyncProperty(someHarmedPlan, playHarmed), { numRuns: RUNS });
});

/** A client whose server has greeted it. */
async function greeted(streamsMax: number, firstStreamId?: number) {
  const socket = new SlowSocket();
  const client = new RecordedClient(socket, { streamsMax }, firstStreamId);
  await turn();
  socket.deliver(octetsOf(settings()));
  return { socket, client };
}

t.test('a request that cannot be written leaves nothing behind', async (t) => {
  const { socket, client } = await greeted(1);
  const wide: RequestForm = {
    ...GET,
    fields: [{ name: 'a', value: '漢', indexing: 'without' }],
  };
  const { connection } = client;
  const nobody = { answered: () => t.fail('answered'), failed: () => t.fail('failed') };
  t.throws(() => connection.send(connection.prepare(wide), 'x', nobody), TypeError);
  t.throws(() => connection.send(connection.prepare(GET), 'a b', nobody), TypeError);
  t.equal(connection.capacity, 1, 'its place is free');
  const { streamId, end } = client.sendNow(GET);
  t.equal(streamId, 1, 'its identifier too');
  socket.deliver(octetsOf(headers(1, [[':status', '200']], 1)));
  t.match(await end, { kind: 'answered', status: 200 });
  client.finish();
});

t.test('an end that cancels others: they are counted once', async (t) => {
  const { socket, client } = await greeted(3);
  const first = client.sendNow(GET);
  const second = client.sendNow(GET, 'b', () => client.cancel(third));
  const third = client.sendNow(GET, 'c', () => client.cancel(second));
  socket.deliver(octetsOf(goAway(1, 0)));
  t.equal(client.connection.isClosed, false, 'the first is still to be answered');
  socket.deliver(octetsOf(headers(1, [[':status', '200']], 1)));
  t.match(await first.end, { kind: 'answered', status: 200 });
  t.equal(client.connection.isClosed, true);
  client.finish();
});

t.test('nothing is heard after the farewell', async (t) => {
  const { client } = await greeted(3, 2 ** 31 - 1);
  client.sendNow(GET);
  client.connection.destroy('enough');
  await turn();
  await turn();
  t.same(client.events, ['closed enough'], 'no word of identifiers that are used up');
  client.finish();
});
