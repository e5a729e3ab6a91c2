import t from 'tap';
import type { DeviceGroupChange } from '../../../src/domain/device-group-change.ts';
import { editsOf } from '../../../src/tag-index/redis/feed.ts';
import {
  BITMAP_OCTETS,
  emptySet,
  LISTED_MAX,
  offsetsIn,
  unite,
} from '../../../src/tag-index/redis/offsets.ts';
import { Random } from '../../support/http2/played/random.ts';
import { connectPatiently } from '../../support/redis-index.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';

const KEY = 'group';
const OFFSETS = 8_192;
const TAG_ID = 7;
const VERSIONS = 60;
const GROUP = { appId: 1, platformId: 3, groupNumber: 0, tokens: new Map(), histories: new Map() };

t.test('offsets of a tag: any edits leave what a set would have', (t) =>
  withRedis(t, async (t) => {
    const { url } = await startRedis(t);
    const client = await connectPatiently(t, { kind: 'single', url });
    const met = { list: 0, bitmap: 0 };
    // Few that are far apart, and as many as lie on both sides of the border to a bitmap.
    for (const most of [3, 40, LISTED_MAX - 8, LISTED_MAX + 8, 2_000]) {
      await client.unlink(KEY);
      const random = new Random(most);
      const model = new Set<number>();
      for (let version = 1; version <= VERSIONS; version += 1) {
        // Grows to `most`, shrinks, and is emptied at last. Some are added that it has, some
        // removed that it has not.
        const isGrowing = model.size < most && version < VERSIONS - 10;
        const isLast = version === VERSIONS;
        const [added, removed] = [new Set<number>(), new Set<number>()];
        for (let edit = random.between(0, Math.ceil(most / 3) + 1); edit >= 0; edit -= 1) {
          const offset = random.between(0, OFFSETS - 1);
          const isAdded = !isLast && random.chance(isGrowing ? 0.9 : 0.1);
          if (!removed.has(offset) && isAdded) added.add(offset);
          else if (!added.has(offset)) removed.add(offset);
        }
        const gone = [...model].filter(() => isLast || random.chance(isGrowing ? 0.1 : 0.5));
        for (const offset of gone) if (!added.has(offset)) removed.add(offset);
        for (const offset of added) model.add(offset);
        for (const offset of removed) model.delete(offset);
        const change: DeviceGroupChange = {
          ...GROUP,
          version,
          added: new Map([[TAG_ID, [...added]]]),
          removed: new Map([[TAG_ID, [...removed]]]),
        };
        t.equal(await client.applyChange(KEY, ...editsOf(change)), version);
        const value = await client.hgetBuffer(KEY, String(TAG_ID));
        const expected = [...model].sort((a, b) => a - b);
        const set = emptySet();
        unite(set, value);
        t.same([...offsetsIn(set, 0, OFFSETS)], expected, `${most}, version ${version}`);
        t.equal(value === null, model.size === 0, 'a tag that nobody has is no field');
        if (value === null) continue;
        met[value.length === BITMAP_OCTETS ? 'bitmap' : 'list'] += 1;
        if (value.length === BITMAP_OCTETS) continue;
        t.equal(value.length, model.size * 2, 'a list has each offset once');
        t.ok(model.size <= LISTED_MAX, 'and no more than it may');
      }
    }
    t.ok(met.list > 0 && met.bitmap > 0, 'both forms were met');
  }),
);
