/** Values are kept up to so many keys and so much weight; the newest one always. */

import fc from 'fast-check';
import t from 'tap';
import { CappedMap } from '../../../packages/std/src/capped-map.ts';

const keysOf = (map: CappedMap<string, number>): readonly string[] =>
  ['a', 'b', 'c'].filter((key) => map.get(key) !== undefined);

t.test('those set longest ago make room for weight', (t) => {
  const map = new CappedMap<string, number>({ weightMax: 10 });
  map.set('a', 1, 4);
  map.set('b', 2, 6);
  t.same(keysOf(map), ['a', 'b']);
  map.set('c', 3, 1);
  t.same(keysOf(map), ['b', 'c']);
  t.equal(map.weight, 7);
  t.end();
});

t.test('those set longest ago make room for keys', (t) => {
  const map = new CappedMap<string, number>({ weightMax: 10, sizeMax: 2 });
  map.set('a', 1, 1);
  map.set('b', 2, 1);
  map.set('c', 3, 1);
  t.same(keysOf(map), ['b', 'c']);
  t.equal(map.weight, 2);
  t.equal(map.size, 2);
  t.end();
});

t.test('the newest one stays whatever it weighs, and alone', (t) => {
  const map = new CappedMap<string, number>({ weightMax: 10 });
  map.set('a', 1, 1);
  map.set('b', 2, 11);
  t.same(keysOf(map), ['b']);
  t.equal(map.weight, 11);
  t.end();
});

t.test('a value set again weighs as it does now, and is the newest', (t) => {
  const map = new CappedMap<string, number>({ weightMax: 10 });
  map.set('a', 1, 9);
  map.set('b', 2, 1);
  map.set('a', 3, 2);
  t.equal(map.get('a'), 3);
  t.equal(map.weight, 3);
  map.set('c', 4, 8);
  t.same(keysOf(map), ['a', 'c']);
  t.end();
});

/** The same in a list, the oldest first. */
class Model {
  entries: (readonly [key: number, value: number, weight: number])[] = [];
  readonly sizeMax: number;
  readonly weightMax: number;

  constructor(sizeMax: number, weightMax: number) {
    this.sizeMax = sizeMax;
    this.weightMax = weightMax;
  }

  get weight(): number {
    return this.entries.reduce((sum, [, , weight]) => sum + weight, 0);
  }

  set(key: number, value: number, weight: number): void {
    this.delete(key);
    this.entries.push([key, value, weight]);
    while (
      this.entries.length > 1 &&
      (this.entries.length > this.sizeMax || this.weight > this.weightMax)
    ) {
      this.entries.shift();
    }
  }

  delete(key: number): void {
    this.entries = this.entries.filter(([other]) => other !== key);
  }
}

t.test('whatever is set, deleted and cleared: as a list would have it', (t) => {
  const key = fc.integer({ min: 0, max: 7 });
  const step = fc.oneof(
    { weight: 10, arbitrary: fc.tuple(fc.constant('set' as const), key, fc.nat(6)) },
    { weight: 4, arbitrary: fc.tuple(fc.constant('delete' as const), key) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('clear' as const)) },
  );
  const limits = fc.record({
    sizeMax: fc.integer({ min: 1, max: 6 }),
    weightMax: fc.integer({ min: 1, max: 12 }),
  });
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 40 }), (limits, steps) => {
      const map = new CappedMap<number, number>(limits);
      const model = new Model(limits.sizeMax, limits.weightMax);
      for (const [index, [what, at = 0, weight = 0]] of steps.entries()) {
        if (what === 'set') map.set(at, index, weight);
        else if (what === 'delete') map.delete(at);
        else map.clear();
        if (what === 'set') model.set(at, index, weight);
        else if (what === 'delete') model.delete(at);
        else model.entries = [];
        const values = new Map(model.entries.map(([key, value]) => [key, value]));
        const found = Array.from({ length: 8 }, (_, key) => map.get(key) ?? null);
        const wanted = Array.from({ length: 8 }, (_, key) => values.get(key) ?? null);
        if (found.join() !== wanted.join()) throw new Error(`${found}, not ${wanted}`);
        if (map.size !== values.size) throw new Error(`${map.size} keys, not ${values.size}`);
        if (map.weight !== model.weight) throw new Error(`weighs ${map.weight}`);
      }
    }),
    { numRuns: 1_000 },
  );
  t.pass('holds for any course');
  t.end();
});
