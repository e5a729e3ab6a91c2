/** Values are kept up to so many bytes and keys; the newest one always. */

import t from 'tap';
import { WeighedMap } from '../../src/std/weighed-map.ts';

const keysOf = (map: WeighedMap<string, number>): readonly string[] =>
  ['a', 'b', 'c'].filter((key) => map.get(key) !== undefined);

t.test('those set longest ago make room for bytes', (t) => {
  const map = new WeighedMap<string, number>({ bytesMax: 10 });
  map.set('a', 1, 4);
  map.set('b', 2, 6);
  t.same(keysOf(map), ['a', 'b']);
  map.set('c', 3, 1);
  t.same(keysOf(map), ['b', 'c']);
  t.equal(map.bytes, 7);
  t.end();
});

t.test('those set longest ago make room for keys', (t) => {
  const map = new WeighedMap<string, number>({ bytesMax: 10, sizeMax: 2 });
  map.set('a', 1, 1);
  map.set('b', 2, 1);
  map.set('c', 3, 1);
  t.same(keysOf(map), ['b', 'c']);
  t.equal(map.bytes, 2);
  t.end();
});

t.test('the newest one stays however large, and alone', (t) => {
  const map = new WeighedMap<string, number>({ bytesMax: 10 });
  map.set('a', 1, 1);
  map.set('b', 2, 11);
  t.same(keysOf(map), ['b']);
  t.equal(map.bytes, 11);
  t.end();
});

t.test('a value set again weighs as it does now, and is the newest', (t) => {
  const map = new WeighedMap<string, number>({ bytesMax: 10 });
  map.set('a', 1, 9);
  map.set('b', 2, 1);
  map.set('a', 3, 2);
  t.equal(map.get('a'), 3);
  t.equal(map.bytes, 3);
  map.set('c', 4, 8);
  t.same(keysOf(map), ['a', 'c']);
  t.end();
});

t.test('a deleted value weighs nothing, one that is not there either', (t) => {
  const map = new WeighedMap<string, number>({ bytesMax: 10 });
  map.set('a', 1, 9);
  map.delete('a');
  map.delete('b');
  t.equal(map.bytes, 0);
  t.equal(map.get('a'), undefined);
  t.end();
});
