/** The one form of each value: what is taken, and that taking it twice changes nothing. */

import * as fc from 'fast-check';
import t from 'tap';
import { normalizeValue } from '../../src/domain/attribute-values.ts';
import type { FacetType } from '../../src/domain/attributes.ts';
import { BUILT_IN_ATTRIBUTES, isReservedName } from '../../src/domain/attributes.ts';

const DECLARED = 7;

const taken = (type: FacetType, value: unknown, id = DECLARED) =>
  normalizeValue({ id, type }, value);

const builtIn = (name: string, value: unknown) => {
  const attribute = BUILT_IN_ATTRIBUTES.find((each) => each.name === name);
  if (attribute === undefined) throw new Error(`no attribute ${name}`);
  return normalizeValue(attribute, value);
};

t.test('languages: the language, its script and its region', (t) => {
  for (const [given, kept] of [
    ['de', 'de'],
    ['de_CH', 'de-CH'],
    ['DE-ch', 'de-CH'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['zh_Hans_CN', 'zh-Hans-CN'],
    ['en-US-u-hc-h12', 'en-US'],
    ['de-CH-1996', 'de-CH'],
    ['es-419', 'es-419'],
    ['iw', 'he'],
  ] as const) {
    t.equal(builtIn('language', given), kept, given);
  }
  for (const given of ['', 'd', 'und', 'german language', 'de-', '-', 'de CH', 7, null, true]) {
    t.equal(builtIn('language', given), null, String(given));
  }
  t.end();
});

t.test('zones: the name of today', (t) => {
  for (const [given, kept] of [
    ['Europe/Zurich', 'Europe/Zurich'],
    ['europe/zurich', 'Europe/Zurich'],
    ['Europe/Kiev', 'Europe/Kyiv'],
    ['Europe/Kyiv', 'Europe/Kyiv'],
    ['Asia/Calcutta', 'Asia/Kolkata'],
    ['America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['UTC', 'UTC'],
  ] as const) {
    t.equal(builtIn('timezone', given), kept, given);
  }
  for (const given of ['+02:00', '-0330', 'Europe/Nowhere', 'GMT+2', '', ' ', 2, null]) {
    t.equal(builtIn('timezone', given), null, String(given));
  }
  t.end();
});

t.test('countries: two letters, in upper case', (t) => {
  t.equal(builtIn('country', 'ch'), 'CH');
  for (const given of ['CHE', 'c', '', 'C1', 'ç ', 41]) {
    t.equal(builtIn('country', given), null, String(given));
  }
  t.end();
});

t.test('versions: four numbers, without zeros at the end', (t) => {
  for (const [given, kept] of [
    ['5.2', '5.2'],
    ['5.2.0', '5.2'],
    ['5.2.0-rc1', '5.2'],
    ['5.2.1+build.7', '5.2.1'],
    ['05.02', '5.2'],
    ['0', '0'],
    ['0.0.0', '0'],
    ['10', '10'],
    ['1.20', '1.20'],
    ['1.2.3.4.5', '1.2.3.4'],
    ['5.', '5'],
    ['5..2', '5'],
    ['2026112701', '2026112701'],
  ] as const) {
    t.equal(builtIn('appVersion', given), kept, given);
  }
  for (const given of ['', 'v5', 'webclient-3.0', '.5', '1'.repeat(16), 5.2, null]) {
    t.equal(builtIn('osVersion', given), null, String(given));
  }
  t.end();
});

t.test('texts as they are; booleans as one of two words', (t) => {
  t.equal(taken('text', 'Gold'), 'Gold');
  t.equal(taken('text', ' gold '), ' gold ');
  t.equal(taken('text', 'x'.repeat(64)), 'x'.repeat(64));
  for (const given of ['', 'x'.repeat(65), 'a\0b', 'a\nb', '\ud800', 5, true, null, {}, ['a']]) {
    t.equal(taken('text', given), null, JSON.stringify(given));
  }
  t.equal(taken('boolean', true), 'true');
  t.equal(taken('boolean', 'false'), 'false');
  for (const given of ['yes', 'TRUE', 1, 0, null, '']) t.equal(taken('boolean', given), null);
  t.end();
});

t.test('taking a value twice is taking it once, and nothing throws', async (t) => {
  const TYPES: readonly FacetType[] = ['text', 'language', 'zone', 'version', 'boolean'];
  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
  const version = fc
    .array(fc.nat(30), { minLength: 1, maxLength: 6 })
    .map((numbers) => numbers.join('.'));
  const language = fc.stringMatching(/^[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_][A-Za-z]{2})?$/);
  const value = fc.oneof(zone, version, language, fc.string(), fc.anything());
  await fc.assert(
    fc.property(fc.constantFrom(...TYPES), value, (type, given) => {
      const once = taken(type, given);
      return once === null || (once.length > 0 && taken(type, once) === once);
    }),
  );
  await fc.assert(
    fc.property(zone, (name) => builtIn('timezone', name) !== null),
    { numRuns: 1_000 },
  );
  await fc.assert(fc.property(version, (given) => taken('version', given) !== null));
  t.ok(isReservedName('platform'));
  t.notOk(isReservedName('plan'));
});
