/** Finds where a text stops being JSON: JSON.parse words this differently in every version. */

/** The place as people count it: from 1. */
interface TextPosition {
  readonly line: number;
  readonly column: number;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING_CHARACTERS = /(?:[ !#-[\]-\uffff]+|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;

/** For a text that JSON.parse refused. With its own stack: a stranger may nest to any depth. */
export const jsonFaultPosition = (text: string): TextPosition =>
  positionBehind(text.slice(0, jsonEnd(text)));

/** The place where this text ends. */
export function positionBehind(text: string): TextPosition {
  const lines = text.split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

function jsonEnd(text: string): number {
  const open: ('{' | '[')[] = [];
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const length = pattern.exec(text)?.[0].length ?? 0;
    at += length;
    return length > 0;
  };
  const isNext = (character: string): boolean => {
    take(SPACE);
    if (text[at] !== character) return false;
    at += 1;
    return true;
  };
  const takeString = (): boolean => {
    if (!isNext('"')) return false;
    take(STRING_CHARACTERS);
    if (text[at] !== '"') return false;
    at += 1;
    return true;
  };
  const takeName = (): boolean => takeString() && isNext(':');

  for (;;) {
    if (isNext('{')) {
      open.push('{');
      if (!isNext('}')) {
        if (takeName()) continue;
        return at;
      }
      open.pop();
    } else if (isNext('[')) {
      open.push('[');
      if (!isNext(']')) continue;
      open.pop();
    } else if (text[at] === '"' ? !takeString() : !take(SCALAR)) return at;
    // A value ended here, and maybe also the values around it.
    while (open.length > 0 && isNext(open.at(-1) === '{' ? '}' : ']')) open.pop();
    if (open.length === 0) {
      take(SPACE);
      return at;
    }
    if (!isNext(',')) return at;
    if (open.at(-1) === '{' && !takeName()) return at;
  }
}
