/**
 * docs/limits.md: each value is that of the constant beside it in the source, or the default of the
 * variable.
 */

import t from 'tap';
import { readConfig, schema } from '../../src/app/config.ts';
import { CLIENT_LIMIT_NAMES } from '../../src/domain/client-limits.ts';
import { APNS_LIMITS } from '../../src/providers/apns/settings.ts';
import { FCM_LIMITS } from '../../src/providers/fcm/settings.ts';
import type { Row } from '../support/documents.ts';
import { matching, quotedIn, readText, rowsOf, SOURCES } from '../support/documents.ts';

/**
 * Of the two tables without a column *where*: that of Web Push says its file in the text above it.
 */
const WEB_PUSH_SETTINGS = 'providers/webpush/settings.ts';

/**
 * No numbers, or numbers that their rows tell in other terms. That the source has them is held all
 * the same.
 */
const IN_OTHER_TERMS: ReadonlySet<string> = new Set([
  'SANE', // a pattern
  'ROOM_PAGES', // pages of 8 KiB, told in MiB
  'SHARED_BUFFERS', // a setting of PostgreSQL
  'DRAWS_PER_MINUTE', // told as a share of a second
  'PAGES_MAX', // pages of a table, told in GiB
  'WORKERS', // by the machine
  'FCM_MESSAGES_PER_MINUTE', // by the provider
]);

/** A constant, or a member of one: `TRIES_MAX`, `SERVER_LIMITS.headTimeoutMs`. */
const CONSTANT = /^[A-Z][A-Z0-9_]*(\.[a-zA-Z]+)?$/;
const COMMENT = /(?<=^|\s)\/\/.*|\/\*[\s\S]*?\*\//gm;
/**
 * Digits, operators and brackets: an expression that can be evaluated, once its constants are
 * numbers.
 */
const EXPRESSION = /^[\d\s.*+/()-]+$/;

const defaults = readConfig({});
if (!defaults.ok) throw new Error(defaults.faults.join(' '));
const config: Readonly<Record<string, unknown>> = defaults.config;
const isVariable = (name: string): boolean => name in schema.shape;

interface Limit {
  /** The constant, or the member of it: its last words are the unit. */
  readonly name: string;
  readonly value: number;
}

const sources = new Map(
  SOURCES.map((path) => [path.replace(/^src\//, ''), readText(path).replaceAll(COMMENT, '')]),
);

/** The text behind `const NAME =`, to the end of the statement. */
function initialiserOf(source: string, name: string): string | null {
  const [, found] = new RegExp(`^(?:export )?const ${name}(?:: [^=]+)? =\\s*([^;]+);`, 'm').exec(
    source,
  ) ?? [null, null];
  return found ?? null;
}

/** That of the file itself, else the one that it imports: whichever file exports the name. */
function findInitialiser(source: string, name: string): string | null {
  const own = initialiserOf(source, name);
  if (own !== null || !source.includes(name)) return own;
  for (const other of sources.values()) {
    if (!other.includes(`export const ${name}`)) continue;
    return initialiserOf(other, name);
  }
  return null;
}

/** The number that an expression of literals and constants comes to; null: it is none. */
function evaluate(expression: string, source: string): number | null {
  const plain = expression.replaceAll(/\bas const\b|'/g, '');
  const digits = plain
    .replaceAll(/\b[A-Z][A-Z0-9_]+\b/g, (name) =>
      String(evaluate(findInitialiser(source, name) ?? '', source)),
    )
    .replaceAll(/(?<=\d)_(?=\d)/g, '');
  if (!EXPRESSION.test(digits)) return null;
  return Number(new Function(`return (${digits})`)());
}

/**
 * What a constant limits: a number, the entries of a list, or the members of an object; null: the
 * source has no such constant.
 */
function limitsOf(name: string, source: string): readonly Limit[] | null {
  const [constant = '', member] = name.split('.');
  const initialiser = findInitialiser(source, constant);
  if (initialiser === null) return null;
  const alone = evaluate(initialiser, source);
  if (alone !== null) return [{ name, value: alone }];
  const [, entries] = /^\[([^\]]+)\]/.exec(initialiser) ?? [];
  if (entries !== undefined) return entries.split(',').flatMap((entry) => limit(name, entry));
  const members = [...initialiser.matchAll(/\b([a-zA-Z]+): ([^,{}]+)/g)];
  return members.flatMap(([, key = '', value = '']) =>
    member === undefined || key === member ? limit(`${constant}.${key}`, value) : [],
  );

  function limit(name: string, expression: string): readonly Limit[] {
    const value = evaluate(expression, source);
    return value === null ? [] : [{ name, value }];
  }
}

const TIMES: readonly (readonly [unit: string, ms: number])[] = [
  ['ms', 1],
  ['s', 1_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['days?', 86_400_000],
  ['weeks', 604_800_000],
];
const SIZES: readonly (readonly [unit: string, bytes: number])[] = [
  ['bytes', 1],
  ['KiB', 1_024],
  ['MiB', 1_048_576],
  ['GiB', 1_073_741_824],
];
/** Numbers as words, by the unit that stands in the name. */
const WORDS: Readonly<Record<string, string>> = {
  '1000 ms': 'second',
  '60000 ms': 'minute',
  '3600000 ms': 'hour',
  '86400000 ms': 'a day',
  '0.1': 'a tenth',
  '0.25': 'a quarter',
  '0.3333333333333333': 'a third',
  '0.5': 'half',
  '2': 'twice',
  '8': 'eight',
};

/**
 * Whether a text tells the limit, in whichever unit of its kind; a range tells its lower end
 * without one.
 */
function tells(text: string, { name, value }: Limit): boolean {
  const words = name.split(/[_.]|(?=[A-Z][a-z])/).map((word) => word.toLowerCase());
  if (words.includes('epoch')) return has(text, value);
  if (words.includes('seconds') && inUnits(text, value * 1_000, TIMES)) return true;
  if (words.includes('ms')) {
    const word = WORDS[`${value} ms`];
    if (word !== undefined && text.includes(word)) return true;
    return inUnits(text, value, TIMES);
  }
  if (words.includes('bytes') || words.includes('octets')) return inUnits(text, value, SIZES);
  if (value === Number.POSITIVE_INFINITY) return text.includes('no limit');
  const word = WORDS[String(value)];
  return (
    (word !== undefined && text.includes(word)) || has(text, value) || has(text, value * 100, ' %')
  );
}

const inUnits = (
  text: string,
  value: number,
  units: readonly (readonly [unit: string, size: number])[],
): boolean => units.some(([unit, size]) => has(text, value / size, `(–[\\d.,]+)? ${unit}\\b`));

/** Whether a number stands in a text by itself, as it is written there: 16,384. */
function has(text: string, value: number, behind = '(?![\\d]|[.,]\\d)'): boolean {
  const written = value.toLocaleString('en-US', { maximumFractionDigits: 3 });
  return new RegExp(`(?<![\\d]|\\d[.,])${written.replaceAll('.', '\\.')}${behind}`).test(text);
}

/**
 * The rows of all tables that name something, each with the files that it is in: `same` is those of
 * the row above.
 */
function limitRows(): readonly { readonly row: Row; readonly files: readonly string[] }[] {
  let files: readonly string[] = [];
  return rowsOf(readText('docs/limits.md'))
    .filter((row) => row['name'] !== undefined && row['APNs'] === undefined)
    .map((row) => {
      const where = row['where'] ?? `\`${WEB_PUSH_SETTINGS}\``;
      if (where !== 'same') files = quotedIn(where);
      return { row, files };
    });
}

t.test('every file that a row names exists', (t) => {
  for (const { row, files } of limitRows()) {
    for (const file of files)
      t.ok(matching(file, sources.keys()).length > 0, `${row['what']}: ${file}`);
  }
  t.end();
});

t.test('every constant is in a file of its row, and has the value that the row tells', (t) => {
  let told = 0;
  for (const { row, files } of limitRows()) {
    const cells = Object.values(row).join(' | ');
    const named = quotedIn(cells).filter((name) => name.endsWith('.ts'));
    const texts = [...files, ...named]
      .flatMap((file) => matching(file, sources.keys()))
      .map((file) => sources.get(file) ?? '');
    const names = quotedIn(cells).filter(
      (name) =>
        CONSTANT.test(name) &&
        (name.includes('_') || (row['name'] ?? '').includes(name)) &&
        !isVariable(name),
    );
    for (const name of names) {
      const found = texts.flatMap((text) => limitsOf(name, text) ?? []);
      const isThere = texts.some((text) => limitsOf(name, text) !== null);
      t.ok(isThere, `${row['what']}: ${name} is a constant of ${files.join(', ')}`);
      if (!isThere || IN_OTHER_TERMS.has(name)) continue;
      t.ok(found.length > 0, `${name} is a number`);
      for (const limit of found) {
        told += 1;
        t.ok(tells(cells, limit), `${row['what']}: tells ${name}, ${limit.value}`);
      }
    }
  }
  t.ok(told > 200, `${told} values are held`);
  t.end();
});

t.test('every limit of a client has a row', (t) => {
  const names = limitRows().flatMap(({ row }) => quotedIn(row['name'] ?? ''));
  for (const name of CLIENT_LIMIT_NAMES) {
    t.ok(names.includes(`CLIENT_LIMIT_DEFAULTS.${name}`), name);
  }
  t.end();
});

t.test('every variable has the default that the row tells', (t) => {
  for (const { row } of limitRows()) {
    const [, name] = /\*\*`([A-Z_]+)`\*\*/.exec(row['name'] ?? '') ?? [];
    if (name === undefined || IN_OTHER_TERMS.has(name)) continue;
    const value = config[name];
    t.ok(
      typeof value === 'number' && tells(Object.values(row).join(' | '), { name, value }),
      `${row['what']}: tells ${name}, ${value}`,
    );
  }
  t.end();
});

t.test('connections to APNs and FCM have the limits that their columns tell', (t) => {
  const columns = [
    ['APNs', APNS_LIMITS],
    ['FCM', FCM_LIMITS],
  ] as const;
  const rows = rowsOf(readText('docs/limits.md')).filter((row) => row['FCM'] !== undefined);
  const told = new Set<string>();
  for (const row of rows) {
    for (const name of quotedIn(row['name'] ?? '').filter((name) => name in APNS_LIMITS)) {
      told.add(name);
      for (const [column, limits] of columns) {
        const cell = row[column] === 'the same' ? row['APNs'] : row[column];
        const value = limits[name as keyof typeof limits];
        if (typeof value !== 'number') continue;
        t.ok(
          tells(cell ?? '', { name, value }),
          `${row['what']}: tells ${column} ${name}, ${value}`,
        );
      }
    }
  }
  t.ok(told.size > 10, `${told.size} limits are held`);
  t.end();
});
