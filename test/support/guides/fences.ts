/**
 * The blocks of code of docs/guide/, and what a test does with each, by the words after its opening
 * fence:
 *
 *     sh run              a shell that goes through the page from top to bottom runs it
 *     sh service          starts the engine: it is `npm start`, and the engine of the test runs
 *     sh set              the reader's own values, which the test sets in their place
 *     <language> file=x   is the file x, which a later block of the page runs
 *     <language> web=x    is a file of a web site, which a browser runs
 *     <language> app=x,y  is a part of the apps x and y, which the test compiles and runs
 *     output              what the block before it prints; … is anything
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, readText } from '../documents.ts';

const GUIDES = 'docs/guide';

export type Kind = 'run' | 'service' | 'set' | 'file' | 'web' | 'app' | 'output';

export interface Fence {
  /** The number of its first line. */
  readonly line: number;
  readonly language: string;
  readonly kind: Kind | null;
  /** The name of a file, or of apps; '' without one. */
  readonly name: string;
  readonly code: string;
}

/** The names of the guides, without `.md`. */
export const GUIDE_NAMES: readonly string[] = readdirSync(join(ROOT, GUIDES))
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.slice(0, -'.md'.length));

export const guideText = (name: string): string => readText(`${GUIDES}/${name}.md`);

const OPENING = /^```(.*)$/;
const KINDS: readonly string[] = ['run', 'service', 'set', 'file', 'web', 'app'];
/** Those that say `=` and a name. */
const NAMED: readonly string[] = ['file', 'web', 'app'];

/** In order. */
export function fencesOf(text: string): readonly Fence[] {
  const lines = text.split('\n');
  const fences: Fence[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, info] = OPENING.exec(lines[at] ?? '') ?? [];
    if (info === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    if (end === -1) throw new Error(`line ${at + 1}: this block has no end`);
    const code = `${lines.slice(at + 1, end).join('\n')}\n`;
    fences.push({ line: at + 1, ...meaningOf(info), code });
    at = end;
  }
  return fences;
}

function meaningOf(info: string): Pick<Fence, 'language' | 'kind' | 'name'> {
  const [language = '', does = '', ...more] = info.split(' ');
  if (info === 'output') return { language, kind: 'output', name: '' };
  const [kind = '', name = ''] = does.split('=');
  const isNamed = NAMED.includes(kind);
  const isKnown = KINDS.includes(kind) && isNamed === (name !== '') && more.length === 0;
  return { language, kind: isKnown ? (kind as Kind) : null, name };
}

/** Whether this was printed: the spaces of an example are for its reader. */
export function isPrinted(example: string, printed: string): boolean {
  const packed = (text: string): string => text.replaceAll(/\s+/g, '');
  const parts = packed(example)
    .split('…')
    .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*')}$`).test(packed(printed));
}
