import * as fc from 'fast-check';
import t from 'tap';
import { DynamicTable } from '../../../../packages/http2/src/hpack/dynamic-table.ts';
import type { Field } from '../../../../packages/http2/src/hpack/field.ts';
import { fieldSize } from '../../../../packages/http2/src/hpack/field.ts';
import { field } from './blocks.ts';

const entriesOf = (table: DynamicTable): (Field | undefined)[] =>
  Array.from({ length: table.length }, (_, position) => table.get(position + 1));

t.test('the newest has index 1; outside there is nothing', (t) => {
  const table = new DynamicTable(4096);
  table.insert(field('a', '1'));
  table.insert(field('b', '2'));
  t.same(entriesOf(table), [field('b', '2'), field('a', '1')]);
  t.equal(table.size, 68);
  for (const index of [0, -1, 3, 1e9]) t.equal(table.get(index), undefined);
  t.end();
});

t.test('evicts before it inserts, as many as it takes, and tells', (t) => {
  const gone: [string, number][] = [];
  const table = new DynamicTable(102, ({ name }, number) => gone.push([name, number]));
  for (const name of ['a', 'b', 'c']) table.insert(field(name, '1'));
  t.equal(table.size, 102, 'three just fit');
  t.equal(table.insert(field('d', '1')), 3);
  t.same(gone, [['a', 0]], 'the fourth drives out the first');
  table.insert(field('e', '1'.repeat(60)));
  t.same(
    gone.slice(1).map(([name]) => name),
    ['b', 'c', 'd'],
  );
  t.end();
});

t.test('what is larger than the table empties it', (t) => {
  const table = new DynamicTable(100);
  table.insert(field('a', '1'));
  t.equal(table.insert(field('b', '1'.repeat(68))), null, 'one octet too many');
  t.equal(table.length, 0);
  t.equal(table.size, 0);
  t.equal(table.insert(field('b', '1'.repeat(67))), 1, 'just fits');
  t.end();
});

t.test('a model: an array, under any order of insertions and sizes', (t) => {
  const step = fc.oneof(
    { weight: 9, arbitrary: fc.record({ octets: fc.nat(60) }) },
    { weight: 1, arbitrary: fc.record({ sizeMax: fc.nat(6000) }) },
  );
  const property = fc.property(fc.array(step, { maxLength: 400, size: 'max' }), (steps) => {
    const table = new DynamicTable(4096);
    let model: Field[] = [];
    for (const step of steps) {
      if ('sizeMax' in step) table.setSizeMax(step.sizeMax);
      else {
        const entry = field('n', 'v'.repeat(step.octets));
        table.insert(entry);
        model.unshift(entry);
      }
      let size = 0;
      model = model.filter((entry) => {
        size += fieldSize(entry.name, entry.value);
        return size <= table.sizeMax;
      });
      t.equal(table.length, model.length);
      if (model.some((entry, position) => table.get(position + 1) !== entry)) return false;
    }
    return table.size <= table.sizeMax;
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 30 }));
  t.end();
});

t.test('the epoch rises with every change', (t) => {
  const table = new DynamicTable(100);
  const epochs = [table.epoch];
  table.insert(field('a', '1'));
  epochs.push(table.epoch);
  table.insert(field('b', '1'.repeat(99)));
  epochs.push(table.epoch);
  table.setSizeMax(50);
  epochs.push(table.epoch);
  t.same(
    epochs,
    [...new Set(epochs)].sort((a, b) => a - b),
  );
  t.end();
});
