import * as fc from 'fast-check';
import t from 'tap';
import { Stream } from '../../../../packages/http2/src/stream/stream.ts';
import { StreamTable } from '../../../../packages/http2/src/stream/stream-table.ts';

const makeTable = (streamsMax: number): StreamTable<Stream> =>
  new StreamTable(streamsMax, () => new Stream());

const ids = (table: StreamTable<Stream>): number[] =>
  table
    .all()
    .map(({ id }) => id)
    .sort((a, b) => a - b);

t.test('two streams for one place', (t) => {
  const table = makeTable(2);
  const [first, second, third] = [1, 17, 33].map((id) => table.open(id, 0));
  for (const stream of [first, second, third]) t.equal(table.find(stream?.id ?? 0), stream);
  t.same(ids(table), [1, 17, 33]);
  table.close(first as Stream, true);
  t.equal(table.find(1), undefined);
  t.equal(table.find(17), second, 'the displaced one stays where it is');
  const fourth = table.open(49, 0);
  t.equal(table.find(49), fourth);
  table.close(second as Stream, false);
  t.equal(table.find(17), undefined);
  t.equal(table.find(33), third);
  t.same(ids(table), [33, 49]);
  t.end();
});

t.test('who has ended it: certain as long as nobody else has ended in its place', (t) => {
  const table = makeTable(2);
  table.close(table.open(1, 0), true);
  table.close(table.open(3, 0), false);
  t.equal(table.hasEnded(1), true);
  t.equal(table.hasEnded(3), false, 'ended by us');
  t.equal(table.hasEnded(17), false, 'another in the same place');
  table.close(table.open(17, 0), true);
  t.equal(table.hasEnded(1), false, 'nobody knows any more');
  t.end();
});

t.test('objects are used again, as many as are usually open', (t) => {
  let created = 0;
  const table = new StreamTable(3, () => {
    created += 1;
    return new Stream();
  });
  for (let id = 1; id < 100; id += 2) table.close(table.open(id, 0), true);
  t.equal(created, 1);
  const open = [101, 103, 105, 107, 109].map((id) => table.open(id, 0));
  t.equal(new Set(open).size, 5, 'each has its own');
  t.equal(created, 5);
  for (const stream of open) table.close(stream, true);
  const again = [111, 113, 115, 117].map((id) => table.open(id, 0));
  t.equal(new Set(again).size, 4);
  t.equal(created, 6, 'three were kept');
  t.end();
});

t.test('all of them is a copy', (t) => {
  const table = makeTable(4);
  for (const id of [1, 3, 5, 33]) table.open(id, 0);
  const all = table.all();
  for (const stream of all) table.close(stream, false);
  t.equal(all.length, 4);
  t.same(table.all(), []);
  t.equal(table.size, 0);
  t.end();
});

t.test('it is a map', (t) => {
  const step = fc.record({
    kind: fc.constantFrom('open', 'open', 'close', 'end'),
    // How many identifiers are left out, or which stream is closed.
    number: fc.oneof(fc.constant(0), fc.nat(40)),
  });
  void fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.array(step, { maxLength: 200 }),
      (max, steps) => {
        const table = makeTable(max);
        const model = new Map<number, Stream>();
        const endedByPeer = new Set<number>();
        let nextId = 1;
        for (const { kind, number } of steps) {
          if (kind === 'open') {
            const stream = table.open(nextId, number);
            t.notOk([...model.values()].includes(stream), 'nobody else’s object');
            model.set(nextId, stream);
            nextId += 2 + 2 * number;
          } else {
            const [id, stream] = [...model][number % Math.max(1, model.size)] ?? [];
            if (id === undefined || stream === undefined) continue;
            table.close(stream, kind === 'end');
            model.delete(id);
            if (kind === 'end') endedByPeer.add(id);
          }
          t.equal(table.size, model.size);
          t.same(ids(table), [...model.keys()]);
          for (let id = 1; id < nextId; id += 2) {
            if (table.find(id) !== model.get(id)) t.fail(`stream ${id}`);
            if (table.hasEnded(id) && !endedByPeer.has(id)) t.fail(`${id} has not ended`);
          }
        }
      },
    ),
    { numRuns: 30 },
  );
  t.end();
});
