/** How large a payload may be before anything is made of it. */

import t from 'tap';
import { JSON_VALUES_MAX } from '../../packages/std/src/json.ts';
import { LANGUAGES_MAX } from '../../src/domain/localised-payload.ts';
import { givenPayload } from '../../src/domain/payload.ts';
import {
  PAYLOAD_CHARACTERS_MAX,
  PAYLOAD_DEPTH_MAX,
  PAYLOAD_TOO_LONG,
} from '../../src/domain/payload-bounds.ts';
import { parsePayload } from '../support/parse-payload.ts';

const fault = (value: unknown): string | undefined => {
  const read = parsePayload(value);
  return read.ok ? undefined : read.faults[0]?.message;
};

t.test('names, texts and values count, wherever they are', (t) => {
  // The name of the field has five characters.
  const room = PAYLOAD_CHARACTERS_MAX - 5;
  t.equal(fault({ title: 'x'.repeat(room) }), undefined);
  t.equal(fault({ title: 'x'.repeat(room + 1) }), PAYLOAD_TOO_LONG);
  for (const name of ['title', 'data', 'fcm', 'other']) {
    const long = 'x'.repeat(PAYLOAD_CHARACTERS_MAX);
    for (const value of [long, { a: long }, { a: [{ b: [long] }] }, { [long]: 1 }]) {
      t.equal(fault({ [name]: value }), PAYLOAD_TOO_LONG, name);
    }
  }
  t.equal(fault({ data: { a: Array(PAYLOAD_CHARACTERS_MAX).fill({}) } }), PAYLOAD_TOO_LONG);
  t.equal(fault(JSON.stringify({ data: { a: 'x'.repeat(2_000_000) } })), PAYLOAD_TOO_LONG);
  t.equal(fault(`{"data":[${'{},'.repeat(JSON_VALUES_MAX)}{}]}`), PAYLOAD_TOO_LONG);
  t.end();
});

t.test('the walk ends where the bound is passed', (t) => {
  let looked = 0;
  const counting = new Proxy(Array(1_000_000).fill(0), {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) looked += 1;
      return Reflect.get(target, name);
    },
  });
  t.equal(givenPayload({ data: { a: counting } }).ok, false);
  t.ok(looked <= PAYLOAD_CHARACTERS_MAX, `looked at ${looked}`);
  t.end();
});

t.test('texts in several languages have room for each, and what they share for one', (t) => {
  const tags = Array.from({ length: LANGUAGES_MAX }, (_, n) => [`tag-${n}`, `l${n}`]);
  const languages = { default: 'l0', ...Object.fromEntries(tags) };
  const text = 'x'.repeat(PAYLOAD_CHARACTERS_MAX);
  const inAll = (one: string) => Object.fromEntries(tags.map(([, language]) => [language, one]));
  const half = text.slice(0, PAYLOAD_CHARACTERS_MAX / 2);
  t.equal(fault({ languages, title: inAll(text) }), undefined);
  t.equal(fault({ languages, title: inAll(text), data: { a: text } }), PAYLOAD_TOO_LONG);
  t.match(fault({ languages, title: { l0: half }, body: { l0: half, l1: text } }), /in "l1"\.$/);
  t.match(fault({ languages, title: { l0: `${text}x` } }), /in "l0"\.$/);
  t.equal(fault({ languages, title: text }), PAYLOAD_TOO_LONG, 'a text in one language');
  t.end();
});

t.test('a language is read once, and the data once for all', (t) => {
  const languages = { default: 'en', a: 'de', b: 'de', c: 'fr' };
  const read = parsePayload({ languages, title: { en: 'e', de: 'd' }, data: { x: 1 } });
  if (!read.ok) throw new Error(JSON.stringify(read.faults));
  const [a, b, c] = read.payload.languages ?? [];
  t.equal(a?.payload, b?.payload);
  t.equal(c?.payload.data, read.payload.data);
  t.end();
});

t.test('nesting has an end', (t) => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
  t.equal(fault({ data: nested(PAYLOAD_DEPTH_MAX - 1) }), undefined);
  t.match(fault({ data: nested(PAYLOAD_DEPTH_MAX) }), /nested deeper/);
  t.match(fault(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), /nested deeper/);
  t.end();
});
