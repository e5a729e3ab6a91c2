/** The first lines of a CSV file: the separator of its fields, and the names of its columns. */

import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { WrongFileError } from './wrong-file-error.ts';

/** Names of columns that a format reads; their case in a file does not matter. */
export interface Columns {
  /** Without all of these no row can be read. */
  readonly needed: readonly string[];
  readonly others: readonly string[];
}

export interface Head {
  readonly separator: string;
  readonly columns: readonly string[];
}

/** Excel writes what the country's settings say: a semicolon where the comma is in numbers. */
const SEPARATORS = [',', ';', '\t'];
/** Excel's own line before the names. */
const SEPARATOR_LINE = /^"?sep=([^"\w\s]|\t)"?[ ,;\t]*$/i;
/** Enough of the names to see what the file is. */
const SHOWN_LENGTH_MAX = 200;

/** The separator that a line `sep=;` names; null: it is no such line. */
export const namedSeparator = (line: string): string | null =>
  SEPARATOR_LINE.exec(line)?.[1] ?? null;

interface FoundHead extends Head {
  /** Needed ones that it does not have. */
  readonly missing: readonly string[];
}

/**
 * Finds the names of columns in a line, by the named separator, or by the one that finds most of
 * those that are needed. Null: it is no line of CSV.
 */
export function findHead(
  line: string,
  named: string | null,
  { needed, others }: Columns,
): FoundHead | null {
  const names = namesOf({ needed, others });
  const heads = (named === null ? SEPARATORS : [named]).flatMap((separator) => {
    const fields = parseRows([line], separator)?.[0];
    if (fields === undefined) return [];
    const columns = fields.map((field) => names.get(field.trim().toLowerCase()) ?? field);
    return { separator, columns, missing: needed.filter((name) => !columns.includes(name)) };
  });
  return heads.length === 0
    ? null
    : heads.reduce((most, other) => (other.missing.length < most.missing.length ? other : most));
}

/** Reads the line of names; throws what is wrong with it. */
export function readHead(line: string, named: string | null, columns: Columns): Head {
  const head = findHead(line, named, columns);
  if (head === null) throw new WrongFileError('The first line has no names of columns.');
  if (head.missing.length > 0) {
    const has = head.columns.join(', ').slice(0, SHOWN_LENGTH_MAX);
    throw new WrongFileError(
      `The file has no column ${head.missing.join(', ')}. The columns that it has: ${has}.`,
    );
  }
  const twice = [...namesOf(columns).values()].find(
    (name) => head.columns.indexOf(name) !== head.columns.lastIndexOf(name),
  );
  if (twice !== undefined) throw new WrongFileError(`The file has the column ${twice} twice.`);
  return head;
}

const namesOf = ({ needed, others }: Columns): ReadonlyMap<string, string> =>
  new Map([...needed, ...others].map((name) => [name.toLowerCase(), name]));

/**
 * The fields of each text, in order, without the blanks around them; null: one of them is not valid
 * CSV.
 */
export function parseRows(
  texts: readonly string[],
  separator: string,
): readonly (readonly string[])[] | null {
  try {
    const rows = parse(texts.join('\n'), {
      record_delimiter: '\n',
      delimiter: separator,
      trim: true,
      relax_column_count: true,
    });
    return rows.length === texts.length ? rows : null;
  } catch (error) {
    if (error instanceof CsvError) return null;
    throw error;
  }
}
