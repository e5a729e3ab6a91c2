import t from 'tap';
import {
  hasTooManyValues,
  isObject,
  JSON_VALUES_MAX,
  parseJson,
  parseObject,
} from '../../../packages/std/src/json.ts';

t.test('any JSON value, and undefined for what is none', (t) => {
  t.strictSame(['{"a":1}', '[1]', 'null', '"x"', '0'].map(parseJson), [
    { a: 1 },
    [1],
    null,
    'x',
    0,
  ]);
  for (const text of ['', '{', 'undefined', "{'a':1}", '1 2']) t.equal(parseJson(text), undefined);
  t.end();
});

t.test('objects are told from lists and from nothing', (t) => {
  t.strictSame(parseObject('{"a":1}'), { a: 1 });
  for (const text of ['[1]', 'null', '"x"', '{']) t.equal(parseObject(text), undefined);
  t.ok(isObject({}));
  for (const value of [[], null, undefined, 'x', 1]) t.notOk(isObject(value));
  t.end();
});

t.test('a text with too many names and values is not parsed', (t) => {
  const list = (one: string, values: number) => `[${Array(values).fill(one).join(',')}]`;
  // The list is a value itself.
  t.equal((parseJson(list('0', JSON_VALUES_MAX - 1)) as unknown[]).length, JSON_VALUES_MAX - 1);
  t.equal(parseJson(list('0', JSON_VALUES_MAX)), undefined);
  t.equal(parseJson('['.repeat(JSON_VALUES_MAX) + ']'.repeat(JSON_VALUES_MAX)), undefined);
  t.equal(parseJson(list('{}', JSON_VALUES_MAX / 2 - 1)) === undefined, false);
  t.equal(parseJson(list('{}', JSON_VALUES_MAX / 2)), undefined);
  const names = Array.from({ length: JSON_VALUES_MAX / 2 }, (_, n) => `"${n}":1`);
  t.equal(parseJson(`{${names.join(',')}}`), undefined, 'names count');
  t.equal(parseJson(`{${names.slice(1).join(',')}}`) === undefined, false);
  t.end();
});

t.test('what stands in strings is no value', (t) => {
  const text = ',:[{'.repeat(JSON_VALUES_MAX);
  for (const inside of [text, `\\"${text}`, `\\\\\\"${text}`, `${text}\\\\`]) {
    const json = `["${inside}"]`;
    t.equal(hasTooManyValues(json), false, inside.slice(0, 8));
    t.type(parseJson(json), Array);
  }
  t.equal(hasTooManyValues(`["\\\\"${text}`), true, 'an escaped backslash closes its string');
  t.equal(hasTooManyValues(`"${text}`), false, 'a string without an end');
  t.end();
});
