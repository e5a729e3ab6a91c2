/**
 * The rule of rolling upgrades, as far as a machine can hold it: while a migration runs and after
 * it nodes of the version before go on, so it adds what they need not know, takes nothing away,
 * refuses nothing that they write, and holds no table for as long as it takes to read it. What
 * takes away comes a version later, with `needs`.
 */

import type { Migration } from '../../src/database/migrate.ts';

/**
 * Tables with a row for each device, or many for each group of them: an index on them takes
 * minutes, in which no device registers.
 */
const LARGE = ['devices', 'device_group_tags', 'tag_days'];

/** Matches an action of ALTER TABLE. */
const FORBIDDEN_ACTIONS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^drop (?!default)/, 'takes away what the version before may use'],
  [/^rename/, 'takes away the old name'],
  [/^alter (column )?\w+ (set data )?type/, 'changes a type'],
  [/^alter (column )?\w+ set not null/, 'refuses what the version before may write'],
  [/^alter (column )?\w+ drop (?!not null)/, 'takes away what the version before may use'],
  [/^add (column )?.*\bnot null\b(?!.*\bdefault\b)/, 'is null in what the version before writes'],
  [/^add (column )?.*\b(generated|serial|unique|primary key)\b/, 'rewrites or reads the table'],
  [
    /^add (column )?.*\bdefault\b.*\b(random|gen_random_uuid|clock_timestamp|nextval)\b/,
    'rewrites the table',
  ],
  [/^add (constraint|check|unique|foreign|primary|exclude)(?!.*\bnot valid$)/, 'reads the table'],
];

const FORBIDDEN_STATEMENTS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^drop (?!index)/, 'takes away what the version before may use'],
  [/^alter (?!table|index)/, 'is not known to be harmless'],
  [/^(update|delete|truncate|lock|vacuum|cluster|reindex)\b/, 'holds rows or tables for long'],
];

/** The faults of a migration under the rule; none for one that declares what it needs. */
export function migrationFaults({ name, sql, needs }: Migration): readonly string[] {
  if (needs !== undefined) return [];
  const statements = sql
    .replace(/--.*$/gm, '')
    .toLowerCase()
    .split(';')
    .map((text) => text.trim().replace(/\s+/g, ' '))
    .filter((text) => text !== '');
  const made = new Set(
    statements.flatMap((text) => /^create table (if not exists )?(\w+)/.exec(text)?.[2] ?? []),
  );
  return statements
    .flatMap((text) => faultsOf(text, made))
    .map(([text, why]) => `${name}: "${text}" ${why}`);
}

type Fault = readonly [text: string, why: string];

function faultsOf(text: string, made: ReadonlySet<string>): readonly Fault[] {
  const altered = /^alter table (?:if exists )?(?:only )?(\w+) (.*)$/.exec(text);
  if (altered !== null) {
    const [, table = '', actions = ''] = altered;
    return made.has(table)
      ? []
      : splitOutsideBrackets(actions).flatMap((action) => match(action, FORBIDDEN_ACTIONS));
  }
  const index = /^create (unique )?index (?:if not exists )?\w* ?on (?:only )?(\w+)/.exec(text);
  if (index !== null) {
    const [, unique, table = ''] = index;
    if (made.has(table)) return [];
    if (unique !== undefined) return [[text, 'refuses what the version before may write']];
    return LARGE.includes(table) ? [[text, 'holds up registrations while it is built']] : [];
  }
  return match(text, FORBIDDEN_STATEMENTS);
}

const match = (text: string, table: readonly (readonly [RegExp, string])[]): readonly Fault[] =>
  table.filter(([pattern]) => pattern.test(text)).map(([, why]) => [text, why]);

function splitOutsideBrackets(text: string): readonly string[] {
  let depth = 0;
  const parts = [''];
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}
