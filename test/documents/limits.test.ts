/** The tags of limits in the sources, of which docs/reference/limits.md is made. */

import t from 'tap';
import { readText, SOURCES } from '../support/documents.ts';
import { limitsIn, taggedLimits } from '../support/reference/limit-tags.ts';
import { valueText, written } from '../support/reference/limit-value.ts';

/** They bound nothing that a reader meets, or are documented elsewhere. It may only get shorter. */
const UNTOLD: Readonly<Record<string, string>> = {
  POSTGRES_VERSION_MIN: 'a version',
  TAGS_PER_CLIENT_MAX: 'the limit `tags` of a client',
  UUID_MAX: 'an id',
  NOTES_MAX: 'a word in a note of the simulator',
};
t.test('every bound that a file exports has a tag', (t) => {
  const told = new Set(taggedLimits.map(({ name }) => name.split('.')[0]));
  const seen = new Set<string>();
  // The README of packages/http2 has its own.
  for (const path of SOURCES.filter((path) => !path.startsWith('packages/http2/'))) {
    for (const [, name = ''] of readText(path).matchAll(
      /^export const ([A-Z0-9_]+_(?:MAX|MIN))\b/gm,
    )) {
      seen.add(name);
      t.ok(told.has(name) !== name in UNTOLD, `${path}: ${name}`);
    }
  }
  for (const name of Object.keys(UNTOLD)) t.ok(seen.has(name), `${name} is still an exception`);
  t.ok(taggedLimits.length > 580, `${taggedLimits.length} limits are told`);
  t.end();
});

t.test('every tag says what it bounds, and a constant has one', (t) => {
  const seen = new Set<string>();
  for (const { file, name, what } of taggedLimits) {
    const key = `${file}: ${name}`;
    t.notOk(seen.has(key), `${key} has one tag`);
    seen.add(key);
    t.match(what, /\w/, key);
    // The tag itself says how much for classes, functions, forms and a pattern.
    const isConstant = /^[A-Z0-9_]+(?:\.\w+)?$/.test(name) && name !== 'SANE';
    if (isConstant) t.not(valueText(file, name), '', `${key} has a value`);
  }
  t.end();
});

t.test('a tag, the rest of its comment and what it stands above', (t) => {
  const source = `
/**
 * More is a storm.
 * @publisherLimit requests of a second, of
 * everybody → \`429\`
 */
export const REQUESTS_MAX = 5;
const LIMITS: Limits = {
  /** @limit a wait */
  waitMs: 10,
};
`;
  const file = 'some/file.ts';
  t.strictSame(limitsIn(file, source), [
    {
      file,
      name: 'REQUESTS_MAX',
      what: 'requests of a second, of everybody',
      beyond: '`429`',
      why: 'More is a storm.',
      isPublishers: true,
    },
    { file, name: 'LIMITS.waitMs', what: 'a wait', beyond: '', why: '', isPublishers: false },
  ]);
  t.throws(() => limitsIn(file, '/** @limit a wait */\n\n'), /stands above/);
  t.end();
});

t.test('values have the unit that the name of their constant tells', (t) => {
  const texts: readonly (readonly [name: string, value: number, text: string])[] = [
    ['TRIES_MAX', 10_000, '10,000'],
    ['WAIT_MS_MAX', 250, '250 ms'],
    ['waitMs', 2_500, '2.5 s'],
    ['WAIT_MS', 90_000, '90 s'],
    ['WAIT_MS', 86_400_000, '24 h'],
    ['WAIT_MS', 604_800_000, '7 days'],
    ['TIMEOUT_SECONDS', 120, '2 min'],
    ['BODY_BYTES_MAX', 4_096, '4,096 bytes'],
    ['BODY_OCTETS_MAX', 65_536, '64 KiB'],
    ['NAME_LENGTH_MAX', 255, '255 characters'],
    ['SHARE_MAX', 0.2, '20 %'],
    ['pingsInARowMax', Number.POSITIVE_INFINITY, 'no limit'],
  ];
  for (const [name, value, text] of texts) t.equal(written(name, value), text, text);
  t.end();
});
