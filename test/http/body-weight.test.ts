/** The weight of a body once it is parsed. */

import t from 'tap';
import { JSON_VALUES_MAX } from '../../packages/std/src/json.ts';
import { parsedOctets, VALUE_OCTETS } from '../../src/http/body-weight.ts';

const weigh = (text: string): number => parsedOctets(Buffer.from(text)) / VALUE_OCTETS;

t.test('each name and each value weighs something', (t) => {
  t.equal(weigh(''), 0);
  t.equal(weigh('"text"'), 0);
  t.equal(weigh('{"a":1,"b":[{},{}]}'), 8);
  t.end();
});

t.test('JSON in a string weighs as much', (t) => {
  t.equal(weigh(JSON.stringify({ payload: '{"a":1}' })), 4);
  t.end();
});

t.test('what is refused weighs no more than what is taken', (t) => {
  t.equal(weigh('{},'.repeat(JSON_VALUES_MAX)), JSON_VALUES_MAX);
  t.end();
});
