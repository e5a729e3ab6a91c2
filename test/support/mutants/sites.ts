/** Where built code can be changed in one place, and into what. */

import { parse } from 'acorn';

/** One change: these characters become the replacement. */
export interface Site {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** The changed operator, constant or condition itself, whose line is shown. */
  readonly at: number;
}

/** A node of the parser's tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const OPERATORS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '+=': '-=',
  '-=': '+=',
  '&&': '||',
  '||': '&&',
};
/** Their opposite is the negation of the whole. */
const EQUALITIES = new Set(['===', '!==', '==', '!=']);
/** They have a condition that decides which way the program goes on. */
const BRANCHES = new Set([
  'IfStatement',
  'ConditionalExpression',
  'WhileStatement',
  'DoWhileStatement',
]);
const ERROR = /^(?:Type|Range|Syntax)?Error$/;
const LOGGER = /^log(?:ger)?$/;

/** All changes of a file, in the order of their places. */
export function findSites(source: string): readonly Site[] {
  const program: unknown = parse(source, { ecmaVersion: 'latest', sourceType: 'module' });
  return [...visit(program as Node, null, source)].sort((a, b) => a.at - b.at || a.end - b.end);
}

/** The file with one change. */
export const applySite = (source: string, { start, end, replacement }: Site): string =>
  source.slice(0, start) + replacement + source.slice(end);

function* visit(node: Node, parent: Node | null, source: string): Generator<Site> {
  if (isLeftAlone(node, parent)) return;
  yield* changesOf(node, parent, source);
  for (const child of childrenOf(node)) yield* visit(child, node, source);
}

function* changesOf(node: Node, parent: Node | null, source: string): Generator<Site> {
  const { type } = node;
  if (type === 'Literal') yield* literalChange(node);
  if (type === 'LogicalExpression' || type === 'BinaryExpression') {
    const change = operatorChange(node, source);
    if (change !== null) yield parent?.type === type ? grouped(change, node, source) : change;
  }
  if (type === 'AssignmentExpression') {
    const change = operatorChange(node, source);
    if (change !== null) yield change;
  }
  if (BRANCHES.has(type) && !isNegatedElsewhere(node['test'] as Node)) {
    const test = node['test'] as Node;
    yield {
      start: test.start,
      end: test.end,
      replacement: `!(${source.slice(test.start, test.end)})`,
      at: test.start,
    };
  }
}

function* literalChange({ start, end, value }: Node): Generator<Site> {
  if (typeof value === 'boolean') yield { start, end, replacement: String(!value), at: start };
  if (typeof value === 'number' && value + 1 > value) {
    yield { start, end, replacement: String(value + 1), at: start };
  }
}

function operatorChange(node: Node, source: string): Site | null {
  const operator = String(node['operator']);
  const replacement = OPERATORS[operator];
  const left = node['left'] as Node;
  if (replacement === undefined || isText(node['right'] as Node)) return null;
  const at = source.indexOf(operator, left.end);
  return { start: at, end: at + operator.length, replacement, at };
}

/** Keeps what belongs together when the new operator binds otherwise than its neighbour. */
function grouped({ start, end, replacement, at }: Site, node: Node, source: string): Site {
  const before = source.slice(node.start, start);
  const after = source.slice(end, node.end);
  return { start: node.start, end: node.end, replacement: `(${before}${replacement}${after})`, at };
}

/** A change of its operator or literal is the same as its negation. */
const isNegatedElsewhere = ({ type, operator, value }: Node): boolean =>
  (type === 'BinaryExpression' && EQUALITIES.has(String(operator))) ||
  (type === 'Literal' && typeof value === 'boolean');

/** Names of other files, and what is written for people: texts, log lines, faults. */
function isLeftAlone(node: Node, parent: Node | null): boolean {
  switch (node.type) {
    case 'Literal':
      return false;
    case 'TemplateLiteral':
      // A statement of SQL is no text.
      return parent?.type !== 'TaggedTemplateExpression';
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
      return true;
    case 'ExportNamedDeclaration':
      return isNode(node['source']);
    case 'NewExpression':
      return ERROR.test(nameOf(node['callee'] as Node));
    case 'CallExpression':
      return isLogged(node['callee'] as Node);
    default:
      return isText(node);
  }
}

/** `log.info(…)`, `this.#log.warn(…)`, `deps.log.error(…)`. */
const isLogged = ({ type, object }: Node): boolean =>
  type === 'MemberExpression' && LOGGER.test(nameOf(object as Node));

/** Text itself, or text to which something is added. */
function isText({ type, value, operator, left, right }: Node): boolean {
  if (type === 'TemplateLiteral') return true;
  if (type === 'Literal') return typeof value === 'string';
  if (type !== 'BinaryExpression' || operator !== '+') return false;
  return isText(left as Node) || isText(right as Node);
}

/** An identifier's own name, or the name of a member. */
function nameOf({ type, name, property }: Node): string {
  if (type === 'MemberExpression') return nameOf(property as Node);
  return typeof name === 'string' ? name : '';
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** Without the name of a property, which is no constant. */
function childrenOf(node: Node): readonly Node[] {
  const isNamed = 'key' in node && node['computed'] === false;
  return Object.entries(node)
    .filter(([field]) => !(isNamed && field === 'key'))
    .flatMap(([, value]) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(isNode);
}
