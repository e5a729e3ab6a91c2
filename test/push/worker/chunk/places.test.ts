/** The reports of a chunk about the places of its devices. */

import t from 'tap';
import type { Outcome } from '../../../../src/domain/outcome.ts';
import { DELIVERED } from '../../../../src/domain/outcome.ts';
import type { ChunkTask } from '../../../../src/push/protocol/task.ts';
import { addWords, hasDevice, noDevices } from '../../../../src/push/sql/ledger/reach-words.ts';
import type { TakenPlaces } from '../../../../src/push/sql/ledger/take-places.ts';
import { runChunk } from '../../../../src/push/worker/chunk/chunk-runner.ts';
import { chunkTask, ScriptedSender, sceneOf } from '../../../support/scripted-sender.ts';

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  'device-1': { kind: 'unknown', reason: 'Timeout' },
  'device-2': { kind: 'gone', reason: 'Unregistered', sinceMs: null },
  'device-3': { kind: 'throttled-device', reason: 'TooManyRequests', retryAfterMs: 5_000 },
};
const CAPS = { category: 'news', limits: [{ max: 1, perMs: 3_600_000, of: 'category' }] } as const;
/** The last ones are in a block of their own. */
const OFFSETS = [0, 1, 2, 3, 4, 5, 200, 201];

const offsetsIn = (words: string | undefined): readonly number[] => {
  const bits = noDevices();
  addWords(bits, Buffer.from(words ?? '', 'hex'));
  return OFFSETS.filter((offset) => hasDevice(bits, offset));
};

/** Sends to those but `full`; `allowed`: in place of them. */
async function reported(
  more: Partial<ChunkTask>,
  full: readonly number[],
  allowed = (wanted: Uint8Array): TakenPlaces =>
    wanted.map((octet, at) =>
      full.reduce(
        (left, offset) => (offset >> 3 === at ? left & ~(1 << (offset & 7)) : left),
        octet,
      ),
    ),
) {
  const asked: (readonly number[])[] = [];
  const sender = new ScriptedSender((deviceId) => OUTCOMES[deviceId] ?? DELIVERED, 1);
  const scene = sceneOf(chunkTask({ caps: CAPS, ...more }), { offsets: OFFSETS, sender });
  const context = {
    ...scene.context,
    takePlaces: ({ wanted }: { readonly wanted: Uint8Array }) => {
      asked.push(OFFSETS.filter((offset) => hasDevice(wanted, offset)));
      return Promise.resolve(allowed(wanted));
    },
  };
  await runChunk(chunkTask({ caps: CAPS, ...more }), context);
  const chunks = scene.reports.filter((report) => report.kind === 'chunk');
  const ofAll = (name: 'withheld' | 'returned') =>
    chunks.flatMap(({ places }) => offsetsIn(places?.[name]?.words));
  return {
    asked,
    reports: scene.reports.length,
    releases: chunks.map(({ releaseAfterMs }) => releaseAfterMs),
    withheld: ofAll('withheld'),
    returned: ofAll('returned'),
    reached: chunks.flatMap(({ reached }) => offsetsIn(reached?.words)),
    total: chunks.reduce((sum, { counts }) => sum + counts.total, 0),
    delivered: chunks.reduce((sum, { counts }) => sum + counts.delivered, 0),
  };
}

t.test('who was refused gives it back; who may have it, or is tried again, does not', async (t) => {
  t.match(await reported({}, [4, 200]), {
    asked: [OFFSETS],
    withheld: [4, 200],
    returned: [2],
    reached: [0, 1, 5, 201],
    total: 8,
    delivered: 3,
  });
});

t.test('a block that is left out whole is reported', async (t) => {
  t.match(await reported({}, [200, 201]), { withheld: [200, 201], total: 8, delivered: 3 });
  t.match(await reported({}, OFFSETS), { withheld: OFFSETS, total: 8, delivered: 0 });
});

t.test('blocks that are done ask for no places', async (t) => {
  t.match(await reported({ doneBlocks: 1n }, [201]), {
    asked: [[200, 201]],
    withheld: [201],
    total: 2,
    delivered: 1,
  });
});

t.test(
  'after a lost holder nobody gives a place back, and who is left out was not sent to',
  async (t) => {
    t.match(await reported({ isDoubted: true }, [4]), {
      withheld: [4],
      returned: [],
      reached: OFFSETS.filter((offset) => offset !== 4),
    });
  },
);

t.test('cancelled: no places are taken, and those that were taken come back', async (t) => {
  t.match(await reported({ isCancelled: true, authorized: null }, []), {
    asked: [],
    withheld: [],
    returned: OFFSETS,
    total: 8,
  });
});

t.test('another claim has the chunk: nothing is sent or reported', async (t) => {
  t.match(await reported({}, [], () => null), { reports: 0 });
});

t.test(
  'others hold the group for too long: it is given back unsent, and in no doubt',
  async (t) => {
    const busy = await reported({}, [], () => 'busy');
    t.match(busy, { reached: [], withheld: [], returned: [], total: 0, releases: [1_000] });
    const doubted = { isAtMostOnce: true, startedBlocks: 1n };
    const unknown = await reported(doubted, [], () => 'busy');
    t.match(unknown, { total: 6, delivered: 0, returned: [] }, 'what was in doubt stays unsent');
  },
);

t.test('without caps nothing is asked or said of places', async (t) => {
  t.match(await reported({ caps: null }, [4]), { asked: [], withheld: [], returned: [], total: 8 });
});
