import t from 'tap';
import { jsonFaultPosition } from '../../src/std/json-position.ts';

t.test('where a text stops being JSON', (t) => {
  for (const [text, line, column] of [
    ['', 1, 1],
    ['not json', 1, 1],
    ['{"a":1', 1, 7],
    ['{"a":1,}', 1, 8],
    ['{"a":1\n "b":2}', 2, 2],
    ['{\n  "a": [1, 2,, 3]\n}', 2, 14],
    ['{"a" 1}', 1, 6],
    ["{'a':1}", 1, 2],
    ['[1] x', 1, 5],
    ['["open', 1, 7],
    ['["a\nb"]', 1, 4],
    ['["\\x"]', 1, 3],
    ['[01]', 1, 3],
    ['[tru]', 1, 2],
    ['{"a":{"b":[{}]}}}', 1, 17],
    ['[1}', 1, 3],
  ] as const) {
    t.throws(() => JSON.parse(text), SyntaxError);
    t.same(jsonFaultPosition(text), { line, column }, text);
  }
  t.same(jsonFaultPosition('['.repeat(1_000_000)), { line: 1, column: 1_000_001 });
  t.end();
});
