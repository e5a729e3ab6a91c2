import t from 'tap';
import { withGone } from '../../../src/tag-index/sql/with-gone.ts';

t.test('named devices that are gone have a place and no id', (t) => {
  const named = new Uint8Array(1_024);
  for (const offset of [3, 130, 131, 200]) {
    named[offset >> 3] = (named[offset >> 3] ?? 0) | (1 << (offset & 7));
  }
  const run = {
    offsets: Uint16Array.from([130, 200]),
    deviceIds: ['a', 'b'],
    histories: new Map(),
    languages: Uint8Array.from([1, 2]),
  };
  const all = withGone(run, named, { first: 128, end: 8_192 });
  t.same([...all.offsets], [130, 131, 200], 'what was not asked for is left out');
  t.same(
    [0, 1, 2].map((at) => all.deviceIds.at(at)),
    ['a', undefined, 'b'],
  );
  t.same([...(all.languages ?? [])], [1, 0, 2]);
  t.equal(all.hasGone, true);
  t.equal(withGone(run, named, { first: 132, end: 201 }).offsets.length, 1);
  t.end();
});
