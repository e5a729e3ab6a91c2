/**
 * One look at the database for all who ask; Redis does not count; the log hears of changes only.
 */

import { Writable } from 'node:stream';
import { pino } from 'pino';
import t from 'tap';
import type { ReadinessParts } from '../../../src/api/open/readiness.ts';
import { Readiness } from '../../../src/api/open/readiness.ts';
import type { StoreReading } from '../../../src/database/write-probe.ts';

const OK: StoreReading = { state: 'ok', reason: null };
const FULL: StoreReading = { state: 'cannot write', reason: 'No space left on device' };
const LATER: StoreReading = { state: 'too new', reason: 'a later version has changed it' };
const AWAY: StoreReading = { state: 'unavailable', reason: 'connect ECONNREFUSED' };

/** A database whose answers the test gives, and a clock that it sets. */
function play(parts: Partial<ReadinessParts> = {}) {
  const lines: { level: number; msg: string; reason?: string }[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  const asked: ((reading: StoreReading) => void)[] = [];
  const clock = { nowMs: () => 0, monotonicMs: () => scene.atMs };
  const readiness = new Readiness({
    askStore: () => new Promise((resolve) => asked.push(resolve)),
    isIndexReachable: null,
    isDraining: () => false,
    clock,
    log: pino(sink),
    ...parts,
  });
  const scene = {
    atMs: 0,
    asked,
    lines,
    ask: () => readiness.ask(),
    /** Asks when what was heard before does not count any more. */
    hear(reading: StoreReading) {
      scene.atMs += 1_000;
      const answer = readiness.ask();
      asked.at(-1)?.(reading);
      return answer;
    },
  };
  return scene;
}

t.test('a hundred callers are one look, and its answer lasts half a second', async (t) => {
  const scene = play();
  const callers = Array.from({ length: 100 }, () => scene.ask());
  t.equal(scene.asked.length, 1);
  scene.asked[0]?.(OK);
  for (const { isReady } of await Promise.all(callers)) t.ok(isReady);
  scene.atMs += 499;
  t.ok((await scene.ask()).isReady);
  t.equal(scene.asked.length, 1);
  scene.atMs += 1;
  const late = scene.ask();
  t.equal(scene.asked.length, 2);
  scene.asked[1]?.(FULL);
  t.same(await late, {
    isReady: false,
    body: { status: 'unavailable', stores: { postgres: 'cannot write' } },
  });
});

t.test('while the database hangs, only so many wait', async (t) => {
  const scene = play();
  t.ok((await scene.hear(OK)).isReady);
  scene.atMs += 1_000;
  const waiting = Array.from({ length: 1_000 }, () => scene.ask());
  t.ok((await scene.ask()).isReady, 'the next one hears how it was before');
  t.equal(scene.asked.length, 2, 'one look under way');
  scene.asked[1]?.(AWAY);
  for (const { isReady } of await Promise.all(waiting)) t.notOk(isReady);
  t.notOk((await scene.ask()).isReady);
});

t.test('Redis may be away', async (t) => {
  let isReachable = true;
  const scene = play({ isIndexReachable: () => isReachable });
  t.same((await scene.hear(OK)).body.stores, { postgres: 'ok', redis: 'ok' });
  isReachable = false;
  t.same(await scene.hear(OK), {
    isReady: true,
    body: { status: 'ok', stores: { postgres: 'ok', redis: 'unavailable' } },
  });
});

t.test('who drains is not ready', async (t) => {
  const scene = play({ isDraining: () => true });
  t.match(await scene.hear(OK), { isReady: false, body: { status: 'draining' } });
});

t.test('the log hears of each change once', async (t) => {
  const scene = play();
  const heard = [OK, OK, FULL, FULL, FULL, AWAY, AWAY, OK, OK, LATER, LATER];
  for (const reading of heard) await scene.hear(reading);
  t.match(scene.lines, [
    { level: 50, msg: /takes no writes/, reason: FULL.reason },
    { level: 50, msg: /does not answer/, reason: AWAY.reason },
    { level: 30, msg: /takes writes again/ },
    { level: 50, msg: /a later version has changed the database/, reason: LATER.reason },
  ]);
  t.equal(scene.lines.length, 4);
});
