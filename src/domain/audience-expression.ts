/** Reads an audience's expression, `(a || "b c") && #7 && !d`. `!` is moved inwards (De Morgan). */

import { TAGS_PER_REQUEST_MAX } from './tag.ts';

/** @limit characters of an expression of an audience → `400` */
export const EXPRESSION_LENGTH_MAX = 65_536;
/** @limit parentheses inside each other in an expression of an audience → `400` */
export const EXPRESSION_DEPTH_MAX = 32;

export interface Operand {
  readonly reference: number | string;
  /** It stands under an odd number of `!`: the devices that do not have it are meant. */
  readonly isExcluded: boolean;
  /** The position of its first character. */
  readonly position: number;
}

/** Two parts at least, none of which is joined in the same way. */
export type ExpressionNode =
  | Operand
  | { readonly and: readonly ExpressionNode[] }
  | { readonly or: readonly ExpressionNode[] };

export interface AudienceExpression {
  readonly text: string;
  readonly root: ExpressionNode;
}

/** Where an expression is wrong, in UTF-16 code units from 0, and a sentence. */
interface ExpressionFault {
  readonly position: number;
  readonly message: string;
}

type ReadExpression =
  | { readonly ok: true; readonly expression: AudienceExpression }
  | { readonly ok: false; readonly fault: ExpressionFault };

export function readExpression(text: string): ReadExpression {
  const reader = new ExpressionReader(text);
  const root = reader.read();
  const fault = reader.fault ?? unboundedFault(root);
  return fault === null ? { ok: true, expression: { text, root } } : { ok: false, fault };
}

export const operandsOf = (node: ExpressionNode): readonly Operand[] =>
  'reference' in node ? [node] : partsOf(node).flatMap(operandsOf);

/** Whether every device that meets it has one of these tags: each alternative requires one. */
export function requires(node: ExpressionNode, isOne: (operand: Operand) => boolean): boolean {
  if ('reference' in node) return !node.isExcluded && isOne(node);
  if ('and' in node) return node.and.some((part) => requires(part, isOne));
  return node.or.every((part) => requires(part, isOne));
}

export const partsOf = (node: Exclude<ExpressionNode, Operand>): readonly ExpressionNode[] =>
  'and' in node ? node.and : node.or;

const isBounded = (node: ExpressionNode): boolean => requires(node, () => true);

/** A device with no tag at all would meet it. */
function unboundedFault(root: ExpressionNode): ExpressionFault | null {
  if (isBounded(root)) return null;
  let node = root;
  while (!('reference' in node)) {
    const part = partsOf(node).find((one) => !isBounded(one));
    if (part === undefined) break;
    node = part;
  }
  const position = operandsOf(node)[0]?.position ?? 0;
  return { position, message: UNBOUNDED };
}

const UNBOUNDED =
  'This alternative needs a tag without "!" too: nobody can send to everybody but some.';

/** Parts that are joined in the same way become parts of the whole. */
function joined(how: 'and' | 'or', parts: readonly ExpressionNode[]): ExpressionNode {
  const flat = parts.flatMap((part) => {
    if (how === 'and') return 'and' in part ? part.and : [part];
    return 'or' in part ? part.or : [part];
  });
  const [first] = flat;
  if (flat.length === 1 && first !== undefined) return first;
  return how === 'and' ? { and: flat } : { or: flat };
}

const SPACE = /[ \t\r\n]*/y;
/** A source id that needs no quotation marks. */
const BARE = /[\p{L}\p{M}\p{N}_.:-]+/uy;
const ID = /#(\d{1,15})(?!\d)/y;

/** Reads from left to right. After the first fault nothing is left to read. */
class ExpressionReader {
  fault: ExpressionFault | null = null;
  readonly #text: string;
  #at = 0;
  #operands = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ExpressionNode {
    if (this.#text.length > EXPRESSION_LENGTH_MAX) {
      return this.#fail(
        EXPRESSION_LENGTH_MAX,
        `It has more than ${EXPRESSION_LENGTH_MAX} characters.`,
      );
    }
    const root = this.#alternatives(false, 0);
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#failBehindOperand();
    return root;
  }

  /** Under an odd number of `!`, "or" becomes "and". */
  #alternatives(isExcluded: boolean, depth: number): ExpressionNode {
    const parts = [this.#requirements(isExcluded, depth)];
    while (this.#take('||')) parts.push(this.#requirements(isExcluded, depth));
    return joined(isExcluded ? 'and' : 'or', parts);
  }

  #requirements(isExcluded: boolean, depth: number): ExpressionNode {
    const parts = [this.#factor(isExcluded, depth)];
    while (this.#take('&&')) parts.push(this.#factor(isExcluded, depth));
    return joined(isExcluded ? 'or' : 'and', parts);
  }

  #factor(isUnderExclusion: boolean, depth: number): ExpressionNode {
    let isExcluded = isUnderExclusion;
    while (this.#take('!')) isExcluded = !isExcluded;
    this.#skipSpace();
    const opened = this.#at;
    if (!this.#take('(')) return this.#operand(isExcluded);
    if (depth === EXPRESSION_DEPTH_MAX) {
      return this.#fail(opened, `Parentheses may stand ${EXPRESSION_DEPTH_MAX} deep at most.`);
    }
    const inner = this.#alternatives(isExcluded, depth + 1);
    if (this.#take(')')) return inner;
    if (this.#at < this.#text.length) return this.#failBehindOperand();
    return this.#fail(opened, 'This parenthesis is never closed.');
  }

  #operand(isExcluded: boolean): ExpressionNode {
    const position = this.#at;
    const reference = this.#reference();
    if (reference === null) return this.#fail(position, NO_OPERAND);
    if (this.#operands === TAGS_PER_REQUEST_MAX) {
      return this.#fail(position, `At most ${TAGS_PER_REQUEST_MAX} tags may be named.`);
    }
    this.#operands += 1;
    return { reference, isExcluded, position };
  }

  /** Null: here is none. */
  #reference(): Operand['reference'] | null {
    const id = this.#match(ID);
    if (id !== null) return Number(id[1]);
    const bare = this.#match(BARE);
    if (bare !== null) return bare[0];
    return this.#text[this.#at] === '"' ? this.#quoted() : null;
  }

  #quoted(): string | null {
    const opened = this.#at;
    let name = '';
    for (let at = opened + 1; at < this.#text.length; at += 1) {
      const character = this.#text[at];
      if (character === '"') {
        this.#at = at + 1;
        return name === '' ? null : name;
      }
      if (character === '\\') {
        at += 1;
        const escaped = this.#text[at];
        if (escaped !== '"' && escaped !== '\\') return this.#failQuoted(at - 1, BAD_ESCAPE);
        name += escaped;
      } else name += character;
    }
    return this.#failQuoted(opened, 'This quotation mark is never closed.');
  }

  #failQuoted(position: number, message: string): null {
    this.#fail(position, message);
    return null;
  }

  #failBehindOperand(): ExpressionNode {
    const isClosing = this.#text[this.#at] === ')';
    return this.#fail(this.#at, isClosing ? 'This parenthesis was never opened.' : NO_OPERATOR);
  }

  /** Keeps the first fault, and goes to the end. */
  #fail(position: number, message: string): Operand {
    this.fault ??= { position, message };
    this.#at = this.#text.length;
    return { reference: 0, isExcluded: true, position };
  }

  #take(token: string): boolean {
    this.#skipSpace();
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #skipSpace(): void {
    this.#match(SPACE);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }
}

const NO_OPERAND =
  'Here must stand a tag, "(" or "!": a tag by its source id (in quotation marks if it has other characters than letters, digits and _ - . :), or by # and its id.';
const NO_OPERATOR = 'Here must stand "&&", "||", or nothing more.';
const BAD_ESCAPE = 'A backslash must stand before a quotation mark or a backslash.';
