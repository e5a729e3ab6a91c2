/**
 * The tags `@limit` in the comments of src/ and packages/: what a constant bounds, and what is
 * beyond it.
 */

import { readText, SOURCES } from '../documents.ts';

export interface TaggedLimit {
  /** Below src/, or `packages/…`. */
  readonly file: string;
  /** The constant, its member `NAME.member`, or what else the comment is of. */
  readonly name: string;
  readonly what: string;
  /** '': nothing worth a word. */
  readonly beyond: string;
  /** The rest of the comment; '': there is none. */
  readonly why: string;
  readonly isPublishers: boolean;
}

const COMMENT =
  /^( *)\/\*\*((?:(?!\*\/)[\s\S])*?)@(limit|publisherLimit) ((?:(?!\*\/)[\s\S])*)\*\/\n(.*)$/gm;
/** `export const NAME = …`, `readonly member: number;`, `member: 3,`, `export class Name …`. */
const DECLARED = /^(?:export )?(?:const|class|function|readonly|async function) (\w+)|^(\w+):/;
/** An object of constants, whose members may have tags of their own. */
const OBJECT =
  /^(?:export )?const (\w+)\b[^=\n]*= (?:Object\.freeze\()?\{$|^(?:export )?interface (\w+)/gm;

/** All of one file, in its order. */
export function limitsIn(file: string, source: string): readonly TaggedLimit[] {
  return [...source.matchAll(COMMENT)].map((match) => {
    const [, indent = '', before = '', tag, after = '', line = ''] = match;
    const [, declared, member] = DECLARED.exec(line.trim()) ?? [];
    const own = declared ?? member ?? '';
    if (own === '') throw new Error(`${file}: a tag stands above "${line.trim()}"`);
    const name = indent === '' ? own : `${ownerOf(source, match.index)}.${own}`;
    const [what = '', beyond = ''] = textOf(after).split(' → ');
    return { file, name, what, beyond, why: textOf(before), isPublishers: tag !== 'limit' };
  });
}

const ownerOf = (source: string, at: number): string => {
  const [, constant, type] = [...source.slice(0, at).matchAll(OBJECT)].at(-1) ?? [];
  return constant ?? type ?? '';
};

/** Without the margin, as one line. */
const textOf = (comment: string): string =>
  comment
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/^\*\s?/, '')
        .trim(),
    )
    .filter((line) => line !== '')
    .join(' ');

export const taggedLimits: readonly TaggedLimit[] = [...SOURCES]
  .sort()
  .flatMap((path) => limitsIn(path.replace(/^src\//, ''), readText(path)));
