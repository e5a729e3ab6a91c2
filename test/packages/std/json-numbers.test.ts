import t from 'tap';
import { changedNumbers } from '../../../packages/std/src/json-numbers.ts';

const paths = (text: string) => {
  JSON.parse(text);
  return changedNumbers(text).map(({ path }) => path);
};

t.test('numbers that keep their digits', (t) => {
  const kept = [
    '0',
    '-1',
    '1.5',
    '-0.25',
    '999999999999999',
    '9007199254740991',
    '-9007199254740991',
    '1e+21',
    '1.5e-7',
    '0.30000000000000004',
    '1767225600000.5',
  ];
  for (const one of kept) {
    t.strictSame(changedNumbers(one), [], one);
    t.strictSame(paths(`{"a":[${one},{"b":${one}}],"c":${one}}`), [], one);
  }
  t.end();
});

t.test('numbers that would arrive with other digits', (t) => {
  const cases: readonly (readonly [written: string, message: RegExp])[] = [
    [
      '1234567890123456789',
      /^is written 1234567890123456789 and would arrive as 1234567890123456800; write it as a string$/,
    ],
    ['1.10', /^is written 1\.10 and would arrive as 1\.1; write it as a string$/],
    ['10.0', /would arrive as 10;/],
    ['1E3', /would arrive as 1000;/],
    ['-0', /would arrive as 0;/],
    ['1e400', /would arrive as null;/],
    ['0.1000000000000000055511151231257827', /would arrive as 0\.1;/],
    // Its digits would survive, and those of the next one would not.
    ['9007199254740992', /beyond 2\^53, where numbers lose digits; write it as a string$/],
    ['-1234567890123456800', /beyond 2\^53/],
  ];
  for (const [written, message] of cases) {
    const found = changedNumbers(`{"a":{"b":[0,"1.10",${written}]},"c":"1.10"}`);
    t.equal(found.length, 1, written);
    t.equal(found[0]?.path, 'a.b.2', written);
    t.match(found[0]?.message, message, written);
  }
  t.end();
});

t.test('each is named by its path, whatever stands around it', (t) => {
  t.strictSame(paths('1.0'), ['']);
  t.strictSame(paths('[1,[2.0],[],{},3.0]'), ['1.0', '4']);
  t.strictSame(paths('{ "a" : 1.0 , "b" : { } , "c" : [ ] , "d" : [ { "e" : -1.0 } ] }'), [
    'a',
    'd.0.e',
  ]);
  t.strictSame(paths('{"a":"x","b\\"1.0,":{"\\u0063":1.0},"":2.0}'), ['b"1.0,.c', '']);
  t.strictSame(paths('{"a":["1.0","\\\\",{"b":"]}"}],"c":1.0}'), ['c']);
  t.end();
});

t.test('of many it lists some, and of long ones the beginning', (t) => {
  const many = Array(1_000).fill('1.0').join(',');
  t.equal(changedNumbers(`[${many}]`).length, 100);
  const kept = changedNumbers(`{"a":[${many}],"b":1.0}`, ([first]) => first === 'b');
  t.strictSame(
    kept.map(({ path }) => path),
    ['b'],
    'what is only read takes no room',
  );
  const [one] = changedNumbers(`1${'0'.repeat(100_000)}`);
  t.ok((one?.message.length ?? 0) < 200);
  const depth = 100_000;
  const [deep] = changedNumbers(`${'['.repeat(depth)}1.0${']'.repeat(depth)}`);
  t.equal(deep?.path, Array(32).fill('0').join('.'));
  const [named] = changedNumbers(JSON.stringify({ ['n'.repeat(1_000)]: 0 }).replace('0', '1.0'));
  t.ok((named?.path.length ?? 0) < 100);
  t.end();
});
