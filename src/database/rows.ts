/** Rows as parameters: an array for each column, for `unnest`, so the text never changes. */

import type { Fragment, Sql } from './sql.ts';
import { quoted } from './sql.ts';

interface Column<T> {
  /** The type that the statement sees. */
  readonly type: string;
  /** The type of an element of its array: `unnest` would take an array of arrays apart whole. */
  readonly sentAs: string;
  arrayOf(given: readonly T[]): string;
}

export type Columns<T> = Readonly<Record<string, Column<T>>>;

/** The piece of a statement that has such values as rows. */
type Rows<T> = (sql: Sql, given: readonly T[]) => Fragment;

/**
 * Made once, beside the statement: the driver keeps something for every template. Names and types
 * are written into the statement, so they never come from outside.
 */
export function rowsOf<T>(name: string, columns: Columns<T>): Rows<T> {
  const template = templateOf(textOf(name, Object.entries(columns)));
  const all = Object.values(columns);
  return (sql, given) => sql(template, ...all.map((column) => column.arrayOf(given)));
}

/** The names of the columns, with commas between them. */
export const namesOf = <T>(columns: Columns<T>): ((sql: Sql) => Fragment) =>
  constantList(Object.keys(columns));

/** Pieces of a statement that never change, with commas between them. */
export const constantList = (pieces: readonly string[]): ((sql: Sql) => Fragment) =>
  constantText(pieces.join(', '));

/** A piece of a statement that never changes, so it never comes from outside. */
export function constantText(text: string): (sql: Sql) => Fragment {
  const template = Object.assign([text], { raw: [text] });
  return (sql) => sql(template);
}

/** The driver's own way looks at each element three times, and takes booleans for one boolean. */
const columnOf =
  <V>(type: string, write: (value: V) => string, sentAs = type) =>
  <T>(pick: (given: T, index: number) => V | null): Column<T> => ({
    type,
    sentAs,
    arrayOf(given) {
      const elements = given.map((one, index) => {
        const value = pick(one, index);
        return value === null ? 'NULL' : write(value);
      });
      return `{${elements.join(',')}}`;
    },
  });

export const integer = columnOf<number>('integer', String);
export const smallint = columnOf<number>('smallint', String);
export const bigint = columnOf<number | bigint>('bigint', String);
export const float8 = columnOf<number>('float8', String);
export const boolean = columnOf<boolean>('boolean', String);
export const xid = columnOf<string>('xid', String);
export const uuid = columnOf<string>('uuid', String);
export const text = columnOf<string>('text', quoted);
export const json = columnOf<object | number>('json', (value) => quoted(JSON.stringify(value)));
/** Octets as hexadecimal digits. */
export const octets = columnOf<string>('bytea', (digits) => quoted(`\\x${digits}`));
export const integers = columnOf<readonly number[]>(
  'integer[]',
  (value) => `"{${value.join(',')}}"`,
  'text',
);

/** Stands in a text where an array comes. */
const HOLE = '?';

function templateOf(text: string): TemplateStringsArray {
  const strings = text.split(HOLE);
  return Object.assign(strings, { raw: strings });
}

function textOf<T>(name: string, columns: readonly (readonly [string, Column<T>])[]): string {
  const names = columns.map(([column]) => column).join(', ');
  const arrays = columns.map(([, { sentAs }]) => `${HOLE}::${sentAs}[]`).join(', ');
  if (columns.every(([, { type, sentAs }]) => type === sentAs)) {
    return `unnest(${arrays}) as ${name} (${names})`;
  }
  const selected = columns.map(([column, { type }]) => `${column}::${type} as ${column}`);
  return `(select ${selected.join(', ')} from unnest(${arrays}) as sent (${names})) as ${name}`;
}
