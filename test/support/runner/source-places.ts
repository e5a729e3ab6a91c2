/**
 * Names the lines of the sources in what a failed file has printed. The lanes run without the
 * source maps of Node.js: these cost a twentieth of what a worker thread and the start of an engine
 * take, for texts that only failures have.
 */

import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { DIST, ROOT } from './select.ts';

/** A built file with line and column, as stacks have it, and as tap has it. */
const PLACE = /(?:file:\/\/)?(?:[^\s():]*\/)?dist\/([^\s():]+\.js):(\d+):(\d+)/g;
const TAP_PLACE = /(fileName: )dist\/(\S+\.js)(\n *lineNumber: )(\d+)(\n *columnNumber: )(\d+)/g;

/** A text with the places in built files replaced by those in their sources, from the root on. */
export const withSourcePlaces = (text: string): string =>
  text
    .replace(PLACE, (place, file: string, line: string, column: string) => {
      const found = sourcePlace(join(DIST, file), Number(line), Number(column));
      return found === null ? place : `${found.file}:${found.line}:${found.column}`;
    })
    .replace(TAP_PLACE, (place, ...[inFile, file, atLine, line, atColumn, column]: string[]) => {
      const found = sourcePlace(join(DIST, file ?? ''), Number(line), Number(column));
      return found === null
        ? place
        : `${inFile}${found.file}${atLine}${found.line}${atColumn}${found.column}`;
    });

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

function sourcePlace(file: string, line: number, column: number): Place | null {
  const entry = mapOf(file)?.findEntry(line - 1, column - 1);
  if (entry === undefined || !('originalSource' in entry)) return null;
  return {
    file: relative(ROOT, join(dirname(file), entry.originalSource)),
    line: entry.originalLine + 1,
    column: entry.originalColumn + 1,
  };
}

const maps = new Map<string, SourceMap | null>();

function mapOf(file: string): SourceMap | null {
  const known = maps.get(file);
  if (known !== undefined) return known;
  const path = `${file}.map`;
  const map = existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : null;
  maps.set(file, map);
  return map;
}
