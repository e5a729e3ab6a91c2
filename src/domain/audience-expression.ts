/**
 * Reads an audience's expression, `(a || "b c") && #7 && !d && @country = CH && !$staff`. `!` is
 * moved inwards (De Morgan).
 */

import type { ExpressionFault } from './expression-scanner.ts';
import { ExpressionScanner } from './expression-scanner.ts';
import type { WrittenTest } from './expression-tests.ts';
import { readTest, TESTS_MAX } from './expression-tests.ts';
import { TAGS_PER_REQUEST_MAX } from './tag.ts';

/** @limit characters of an expression of an audience → `400` */
export const EXPRESSION_LENGTH_MAX = 65_536;
/**
 * @publisherLimit characters of an expression of an audience with attributes, segments or `*` →
 * `400`
 */
export const TESTING_LENGTH_MAX = 4_000;
/** @limit parentheses inside each other in an expression of an audience → `400` */
export const EXPRESSION_DEPTH_MAX = 32;

interface Placed {
  /** It stands under an odd number of `!`: the devices that it does not hold for are meant. */
  readonly isExcluded: boolean;
  /** The position of its first character. */
  readonly position: number;
}

/** A tag. */
export interface Operand extends Placed {
  readonly reference: number | string;
}

/** A test of an attribute. */
export interface TestOperand extends Placed {
  readonly test: WrittenTest;
}

/** A segment, whose expression takes its place before anything is made of this one. */
interface SegmentOperand extends Placed {
  readonly segment: string;
  /** The position after its last character. */
  readonly end: number;
}

/** `*`: every device with a subscription. */
interface EverybodyOperand extends Placed {
  readonly isEverybody: true;
}

export type ExpressionLeaf = Operand | TestOperand | SegmentOperand | EverybodyOperand;

/** Two parts at least, none of which is joined in the same way. */
export type ExpressionNode =
  | ExpressionLeaf
  | { readonly and: readonly ExpressionNode[] }
  | { readonly or: readonly ExpressionNode[] };

export interface AudienceExpression {
  readonly text: string;
  readonly root: ExpressionNode;
}

type ReadExpression =
  | { readonly ok: true; readonly expression: AudienceExpression }
  | { readonly ok: false; readonly fault: ExpressionFault };

interface ReadAs {
  /** It is a segment's, which may only narrow. */
  readonly isSegment?: boolean;
  /** Its segments have been put in their places: it may be longer than what people write. */
  readonly isExpanded?: boolean;
}

export function readExpression(
  text: string,
  { isSegment = false, isExpanded = false }: ReadAs = {},
): ReadExpression {
  const reader = new ExpressionReader(text);
  const root = reader.read();
  const fault =
    reader.fault ??
    (isExpanded ? null : lengthFault(text, root)) ??
    (isSegment ? null : unboundedFault(root));
  return fault === null ? { ok: true, expression: { text, root } } : { ok: false, fault };
}

export const isLeaf = (node: ExpressionNode): node is ExpressionLeaf => 'position' in node;

export const leavesOf = (node: ExpressionNode): readonly ExpressionLeaf[] =>
  isLeaf(node) ? [node] : partsOf(node).flatMap(leavesOf);

/** The expression with other positions in it. */
export function relocated(
  node: ExpressionNode,
  placeOf: (position: number) => number,
): ExpressionNode {
  const moved = (part: ExpressionNode) => relocated(part, placeOf);
  if (!isLeaf(node))
    return 'and' in node ? { and: node.and.map(moved) } : { or: node.or.map(moved) };
  const position = placeOf(node.position);
  if (!('test' in node)) return { ...node, position };
  const { test } = node;
  const values = test.values.map((value) => ({ ...value, position: placeOf(value.position) }));
  const operatorPosition = placeOf(test.operatorPosition);
  return { ...node, position, test: { ...test, operatorPosition, values } };
}

/** Its tags. */
export const operandsOf = (node: ExpressionNode): readonly Operand[] =>
  leavesOf(node).filter((leaf) => 'reference' in leaf);

export const testsOf = (node: ExpressionNode): readonly TestOperand[] =>
  leavesOf(node).filter((leaf) => 'test' in leaf);

export const segmentsOf = (node: ExpressionNode): readonly SegmentOperand[] =>
  leavesOf(node).filter((leaf) => 'segment' in leaf);

/** Whether every device that meets it has one of these tags: each alternative requires one. */
export const requires = (node: ExpressionNode, isOne: (operand: Operand) => boolean): boolean =>
  requiresLeaf(node, (leaf) => 'reference' in leaf && isOne(leaf));

function requiresLeaf(node: ExpressionNode, isOne: (leaf: ExpressionLeaf) => boolean): boolean {
  if (isLeaf(node)) return !node.isExcluded && isOne(node);
  if ('and' in node) return node.and.some((part) => requiresLeaf(part, isOne));
  return node.or.every((part) => requiresLeaf(part, isOne));
}

export const partsOf = (
  node: Exclude<ExpressionNode, ExpressionLeaf>,
): readonly ExpressionNode[] => ('and' in node ? node.and : node.or);

/** A segment may have what is needed: that is known when its expression is in its place. */
const isBounded = (node: ExpressionNode): boolean =>
  requiresLeaf(node, (leaf) => !('test' in leaf));

/** The reader itself bounds one over tags alone. */
function lengthFault(text: string, root: ExpressionNode): ExpressionFault | null {
  if (text.length <= TESTING_LENGTH_MAX) return null;
  if (leavesOf(root).every((leaf) => 'reference' in leaf)) return null;
  return {
    position: TESTING_LENGTH_MAX,
    message: `With attributes, segments or "*" it may have ${TESTING_LENGTH_MAX} characters at most.`,
  };
}

/** A device with no tag at all would meet it. */
function unboundedFault(root: ExpressionNode): ExpressionFault | null {
  if (isBounded(root)) return null;
  let node = root;
  while (!isLeaf(node)) {
    const part = partsOf(node).find((one) => !isBounded(one));
    if (part === undefined) break;
    node = part;
  }
  const position = leavesOf(node)[0]?.position ?? 0;
  return { position, message: testsOf(node).length === 0 ? UNBOUNDED : ONLY_TESTS };
}

const UNBOUNDED =
  'This alternative needs a tag without "!" too: nobody can send to everybody but some.';
const ONLY_TESTS =
  'This alternative needs a tag, a segment that has one, or "*" (every device with a subscription), without "!": tests only narrow.';

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

/** A source id that needs no quotation marks. */
const BARE = /[\p{L}\p{M}\p{N}_.:-]+/uy;
const ID = /#(\d{1,15})(?!\d)/y;

/** Reads from left to right. After the first fault nothing is left to read. */
class ExpressionReader {
  readonly #scanner: ExpressionScanner;
  #operands = 0;
  #tests = 0;

  constructor(text: string) {
    this.#scanner = new ExpressionScanner(text);
  }

  get fault(): ExpressionFault | null {
    return this.#scanner.fault;
  }

  read(): ExpressionNode {
    if (this.#scanner.text.length > EXPRESSION_LENGTH_MAX) {
      return this.#fail(
        EXPRESSION_LENGTH_MAX,
        `It has more than ${EXPRESSION_LENGTH_MAX} characters.`,
      );
    }
    const root = this.#alternatives(false, 0);
    this.#scanner.skipSpace();
    if (!this.#scanner.isAtEnd) this.#failBehindOperand();
    return root;
  }

  /** Under an odd number of `!`, "or" becomes "and". */
  #alternatives(isExcluded: boolean, depth: number): ExpressionNode {
    const parts = [this.#requirements(isExcluded, depth)];
    while (this.#scanner.take('||')) parts.push(this.#requirements(isExcluded, depth));
    return joined(isExcluded ? 'and' : 'or', parts);
  }

  #requirements(isExcluded: boolean, depth: number): ExpressionNode {
    const parts = [this.#factor(isExcluded, depth)];
    while (this.#scanner.take('&&')) parts.push(this.#factor(isExcluded, depth));
    return joined(isExcluded ? 'or' : 'and', parts);
  }

  #factor(isUnderExclusion: boolean, depth: number): ExpressionNode {
    let isExcluded = isUnderExclusion;
    while (this.#scanner.take('!')) isExcluded = !isExcluded;
    this.#scanner.skipSpace();
    const opened = this.#scanner.at;
    if (!this.#scanner.take('(')) return this.#operand(isExcluded);
    if (depth === EXPRESSION_DEPTH_MAX) {
      return this.#fail(opened, `Parentheses may stand ${EXPRESSION_DEPTH_MAX} deep at most.`);
    }
    const inner = this.#alternatives(isExcluded, depth + 1);
    if (this.#scanner.take(')')) return inner;
    if (!this.#scanner.isAtEnd) return this.#failBehindOperand();
    return this.#fail(opened, 'This parenthesis is never closed.');
  }

  #operand(isExcluded: boolean): ExpressionNode {
    const position = this.#scanner.at;
    const kind = this.#scanner.peek();
    if (kind === '@') return this.#test(isExcluded);
    if (kind === '$') return this.#segment(isExcluded);
    if (this.#scanner.take('*')) return { isEverybody: true, isExcluded, position };
    const reference = this.#reference();
    if (reference === null) return this.#fail(position, NO_OPERAND);
    if (this.#operands === TAGS_PER_REQUEST_MAX) {
      return this.#fail(position, `At most ${TAGS_PER_REQUEST_MAX} tags may be named.`);
    }
    this.#operands += 1;
    return { reference, isExcluded, position };
  }

  #test(isExcluded: boolean): ExpressionNode {
    const position = this.#scanner.at;
    const test = readTest(this.#scanner);
    if (test === null) return NOTHING;
    if (this.#tests === TESTS_MAX) {
      return this.#fail(position, `An expression may have ${TESTS_MAX} tests at most.`);
    }
    this.#tests += 1;
    return { test, isExcluded, position };
  }

  #segment(isExcluded: boolean): ExpressionNode {
    const position = this.#scanner.at;
    this.#scanner.take('$');
    const segment = this.#name();
    if (segment === null) return this.#fail(position, NO_SEGMENT);
    return { segment, isExcluded, position, end: this.#scanner.at };
  }

  /** Null: here is none. */
  #reference(): Operand['reference'] | null {
    const id = this.#scanner.match(ID);
    return id === null ? this.#name() : Number(id[1]);
  }

  #name(): string | null {
    const bare = this.#scanner.match(BARE);
    if (bare !== null) return bare[0];
    return this.#scanner.text[this.#scanner.at] === '"' ? this.#scanner.quoted() : null;
  }

  #failBehindOperand(): ExpressionNode {
    const { text, at } = this.#scanner;
    return this.#fail(at, text[at] === ')' ? 'This parenthesis was never opened.' : NO_OPERATOR);
  }

  #fail(position: number, message: string): ExpressionNode {
    this.#scanner.fail(position, message);
    return NOTHING;
  }
}

/** Stands for what is faulty. */
const NOTHING: Operand = { reference: 0, isExcluded: true, position: 0 };

const NO_OPERAND =
  'Here must stand a tag, "(" or "!": a tag by its source id (in quotation marks if it has other characters than letters, digits and _ - . :), or by # and its id; also an attribute by "@", a segment by "$", and "*".';
const NO_SEGMENT = 'After "$" must stand the name of a segment.';
const NO_OPERATOR = 'Here must stand "&&", "||", or nothing more.';
