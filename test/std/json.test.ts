import t from 'tap';
import { isObject, parseJson, parseObject } from '../../src/std/json.ts';

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
