/**
 * Our reading of mutated requests beside that of Node's own server (llhttp). Ours may refuse more;
 * it must never see a request where Node sees none, or another one: that is how requests are
 * smuggled past a proxy.
 */

import { METHODS } from 'node:http';
import { pino } from 'pino';
import t from 'tap';
import { Listener } from '../../../packages/http1/src/listener.ts';
import {
  mutatedRequests,
  REFUSED_BY_NODE,
  startFrontReader,
  startNodesReader,
} from '../../support/mutated-requests.ts';

const ROUNDS = 600;
const SEED = 20_261_122;

t.setTimeout(240_000);

t.test('what we take for a request, Node takes for the same', async (t) => {
  const ours = await startFrontReader(
    t,
    (handler) =>
      new Listener({
        host: '127.0.0.1',
        port: 0,
        handler,
        readHeaders: [],
        certificate: null,
        connectionsMax: 100,
        headTimeoutMs: 5_000,
        idleTimeoutMs: 5_000,
        answerTimeoutMs: 5_000,
        unsentBytesMax: 1_000_000,
        log: pino({ level: 'silent' }),
      }),
  );
  const nodes = await startNodesReader(t);
  const mutated = mutatedRequests(SEED);
  let both = 0;
  let refused = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const input = mutated();
    if (REFUSED_BY_NODE.test(input)) continue;
    const mine = await ours.requestsIn(input);
    const theirs = await nodes.requestsIn(input);
    // Node knows a list of methods; to us it is the router that knows.
    const comparable = mine.filter((request) => METHODS.includes(request.split(' ')[0] ?? ''));
    if (comparable.length < mine.length) continue;
    both += mine.length;
    refused += theirs.length - mine.length;
    if (mine.some((request, index) => request !== theirs[index])) {
      t.same(mine, theirs, `seed ${SEED}, round ${round}: ${JSON.stringify(input)}`);
    }
  }
  t.ok(both > ROUNDS / 4, `${both} requests were read by both`);
  t.ok(refused >= 0, `${refused} were refused by us alone`);
});
