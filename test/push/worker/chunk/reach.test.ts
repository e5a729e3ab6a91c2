import t from 'tap';
import { BLOCK_DEVICES, GROUP_BLOCKS, GROUP_DEVICES } from '../../../../src/domain/device.ts';
import type { Outcome } from '../../../../src/domain/outcome.ts';
import { DELIVERED } from '../../../../src/domain/outcome.ts';
import type { ChunkTask } from '../../../../src/push/protocol/task.ts';
import { addWords, hasDevice, noDevices } from '../../../../src/push/sql/ledger/reach-words.ts';
import { runChunk } from '../../../../src/push/worker/chunk/chunk-runner.ts';
import { Reach } from '../../../../src/push/worker/chunk/reach.ts';
import { offsetsIn } from '../../../support/reach.ts';
import { chunkTask, ScriptedSender, sceneOf } from '../../../support/scripted-sender.ts';

const ALL_BLOCKS = (1n << 64n) - 1n;

const reachOf = (offsets: Iterable<number>): Reach => {
  const reach = new Reach();
  for (const offset of offsets) reach.add(offset);
  return reach;
};

const octetsOf = (reach: Reach, blocks = ALL_BLOCKS): Buffer =>
  Buffer.from(reach.of(blocks)?.words ?? '', 'hex');

const offsetsOf = (share: number, random: () => number): number[] =>
  Array.from({ length: GROUP_DEVICES }, (_, offset) => offset).filter(() => random() < share);

/** A sequence that is the same in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Reads them twice: as the engine does, and by a reader that shares nothing with it. */
function offsetsRead(words: Uint8Array): readonly number[] {
  const bits = noDevices();
  addWords(bits, words);
  const all = Array.from({ length: GROUP_DEVICES }, (_, offset) => offset);
  const read = all.filter((offset) => hasDevice(bits, offset));
  const known = offsetsIn(words);
  if (read.length !== known.size || !read.every((offset) => known.has(offset))) {
    throw new Error('the two readers differ');
  }
  return read;
}

t.test('nobody: nothing', (t) => {
  t.equal(reachOf([]).of(ALL_BLOCKS), null);
  t.equal(reachOf([0]).of(2n), null, 'of other blocks');
  t.end();
});

t.test('the words say who is in it, whatever the share of each block', (t) => {
  const random = seeded(7);
  const offsets: number[] = [];
  for (let block = 0; block < GROUP_BLOCKS; block += 1) {
    const share = [0, 0.02, 0.5, 0.97, 1][Math.floor(random() * 5)] ?? 0;
    for (let n = 0; n < BLOCK_DEVICES; n += 1) {
      if (random() < share) offsets.push(block * BLOCK_DEVICES + n);
    }
  }
  const reach = reachOf(offsets);
  t.equal(reach.of(ALL_BLOCKS)?.devices, offsets.length);
  t.strictSame(offsetsRead(octetsOf(reach)), offsets);
  t.end();
});

t.test('reports of some blocks each, one behind the other, are the whole', (t) => {
  const offsets = offsetsOf(0.9, seeded(11));
  const reach = reachOf(offsets);
  const even = octetsOf(reach, 0x5555_5555_5555_5555n);
  const odd = octetsOf(reach, 0xaaaa_aaaa_aaaa_aaaan);
  t.strictSame(offsetsRead(Buffer.concat([even, odd])), offsets);
  t.end();
});

t.test('a device that was reached before its block was reported stays in it', (t) => {
  const offsets = Array.from({ length: GROUP_DEVICES }, (_, n) => n).filter((n) => n !== 5);
  const found = offsetsRead(Buffer.concat([Buffer.from([0, 5]), octetsOf(reachOf(offsets))]));
  t.equal(found.length, GROUP_DEVICES);
  t.end();
});

t.test('the octets of a whole group', (t) => {
  const random = seeded(3);
  const sizes = [1, 0.999, 0.5, 0.01, 0.001].map((share) => [
    share,
    octetsOf(reachOf(offsetsOf(share, random))).length,
  ]);
  const octets = Object.fromEntries(sizes) as Record<string, number>;
  t.comment(JSON.stringify(octets));
  t.equal(octets['1'], 2);
  t.ok((octets['0.999'] ?? 0) < 40);
  t.equal(octets['0.5'], 1_026, 'an eighth of an octet for each device');
  t.ok((octets['0.01'] ?? 0) < 200);
  t.ok((octets['0.001'] ?? 0) < 40);
  t.end();
});

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  'device-1': { kind: 'unknown', reason: 'Timeout' },
  'device-2': { kind: 'gone', reason: 'Unregistered', sinceMs: null },
  'device-3': { kind: 'throttled-device', reason: 'TooManyRequests', retryAfterMs: 5_000 },
};

/** Sends to a chunk of four devices with these outcomes; answers the reach in its reports. */
async function reported(more: Partial<ChunkTask>, cancelsAfter = Number.POSITIVE_INFINITY) {
  const task = chunkTask(more);
  const sender = new ScriptedSender((deviceId, count) => {
    if (count >= cancelsAfter) scene.control.hearState('CANCELLED', scene.clock.monotonicMs());
    return OUTCOMES[deviceId] ?? DELIVERED;
  }, 1);
  const scene = sceneOf(task, { offsets: [0, 1, 2, 3], sender });
  await runChunk(task, scene.context);
  const chunks = scene.reports.filter((report) => report.kind === 'chunk');
  return {
    offsets: chunks.flatMap(({ reached }) => [
      ...offsetsIn(Buffer.from(reached?.words ?? '', 'hex')),
    ]),
    devices: chunks.reduce((sum, { reached }) => sum + (reached?.devices ?? 0), 0),
    isInScope: chunks.some(({ isReachedInScope }) => isReachedInScope),
    isDoubted: chunks.some(({ isDoubted }) => isDoubted),
  };
}

t.test('accepted, and of unknown outcome; neither refused nor put off', async (t) => {
  const expected = { offsets: [0, 1], devices: 2, isInScope: false, isDoubted: false };
  t.same(await reported({}), expected);
  t.same(await reported({ isAtMostOnce: true }), expected, 'at most once');
});

t.test('the only group of a scope: into its row', async (t) => {
  t.match(await reported({ isAlone: true }), { offsets: [0, 1], isInScope: true });
});

t.test('after a lost holder: all of the blocks that were not done', async (t) => {
  const expected = { offsets: [0, 1, 2, 3], devices: 4, isDoubted: true };
  t.match(await reported({ isDoubted: true }), expected);
  t.match(await reported({ isDoubted: true, isCancelled: true }), expected, 'cancelled since');
  t.same((await reported({ isCancelled: true })).offsets, [], 'cancelled before its first send');
});

t.test('cancelled in the middle: whom it was sent to', async (t) => {
  t.same((await reported({}, 1)).offsets, [0]);
});
