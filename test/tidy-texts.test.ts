/**
 * Checks that what people read in the console comes from console/src/texts, so that another
 * language is another set of these files. Markup is read as Svelte's compiler reads it.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import t from 'tap';

/** From dist/test back to the root of the repository. */
const ROOT = join(import.meta.dirname, '..', '..');
const CONSOLE = createRequire(join(ROOT, 'console', 'package.json'));
const SOURCE = join(ROOT, 'console', 'src');

/** A node of the compiler's tree, of markup or of an expression in it. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

const { parse } = CONSOLE('svelte/compiler') as {
  readonly parse: (
    source: string,
    options: { readonly modern: true },
  ) => { readonly fragment: Node };
};

/** Attributes of elements and of our components that people read or hear. */
const SHOWN_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...['alt', 'aria-description', 'aria-label', 'aria-roledescription', 'aria-valuetext'],
  ...['label', 'placeholder', 'title'],
  ...['aside', 'crumb', 'deed', 'fault', 'footer', 'hint', 'keep', 'line', 'of', 'text'],
]);

/** Words of no language, and why. It may only get shorter. */
const NAMES: Readonly<Record<string, string>> = { Tagcast: 'the name of the engine' };

const WORD = /\p{L}/u;

/** Literal text that is shown, with its place in the file. */
type Found = readonly [at: number, text: string];

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

const childrenOf = (node: Node): readonly Node[] =>
  Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(isNode);

/** Literals that an expression may become, not those that it only looks at or passes on. */
function literalsOf(node: Node): readonly Found[] {
  const of = (...fields: readonly string[]): readonly Found[] =>
    fields.flatMap((field) => {
      const value = node[field];
      return (Array.isArray(value) ? value : [value]).filter(isNode).flatMap(literalsOf);
    });
  switch (node.type) {
    case 'Literal':
      return typeof node['value'] === 'string' ? [[node.start, node['value']]] : [];
    case 'TemplateElement':
      return [[node.start, (node['value'] as { readonly raw: string }).raw]];
    case 'TemplateLiteral':
      return of('quasis', 'expressions');
    case 'ConditionalExpression':
      return of('consequent', 'alternate');
    case 'LogicalExpression':
      return of('left', 'right');
    case 'BinaryExpression':
      return node['operator'] === '+' ? of('left', 'right') : [];
    case 'ArrayExpression':
      return of('elements');
    // An object like that of `columns={[{ label: texts.name }]}`.
    case 'ObjectExpression':
      return of('properties');
    case 'Property': {
      const { name } = node['key'] as { readonly name?: string };
      return name !== undefined && SHOWN_ATTRIBUTES.has(name) ? of('value') : [];
    }
    case 'SpreadElement':
      return of('argument');
    default:
      return [];
  }
}

/** `{…}` as an attribute's whole value stands alone, text and expressions in a list. */
const partsOf = (value: unknown): readonly Node[] =>
  (Array.isArray(value) ? value : [value]).filter(isNode);

const shownBy = (part: Node): readonly Found[] =>
  part.type === 'Text'
    ? [[part.start, String(part['data'])]]
    : literalsOf(part['expression'] as Node);

/**
 * The shown part of an attribute: all of one that people read; in others, properties of objects.
 */
function ofAttribute({ name, value }: Node): readonly Found[] {
  if (SHOWN_ATTRIBUTES.has(String(name))) return partsOf(value).flatMap(shownBy);
  return partsOf(value)
    .filter(({ type, expression }) => type === 'ExpressionTag' && isNode(expression))
    .map(({ expression }) => expression as Node)
    .filter(({ type }) => type === 'ArrayExpression' || type === 'ObjectExpression')
    .flatMap((expression) => literalsOf(expression).filter(([at]) => isInObject(expression, at)));
}

/** A list of plain words, as of classes, is not read; a property of an object in it is. */
function isInObject(node: Node, at: number): boolean {
  const isHere = node.start <= at && at < Number(node['end']);
  return (
    isHere && (node.type === 'Property' || childrenOf(node).some((one) => isInObject(one, at)))
  );
}

function findTexts(node: Node): readonly Found[] {
  switch (node.type) {
    case 'Comment':
    case 'StyleSheet':
    case 'Script':
    case 'StyleDirective':
      return [];
    case 'Text':
      return shownBy(node);
    case 'ExpressionTag':
    case 'HtmlTag':
      return literalsOf(node['expression'] as Node);
    case 'Attribute':
      return ofAttribute(node);
    case 'SpreadAttribute':
      return literalsOf(node['expression'] as Node);
    default:
      return childrenOf(node).flatMap(findTexts);
  }
}

/** The literal texts of a component, `line: text`, without names. */
const textsIn = (source: string): readonly string[] =>
  findTexts(parse(source, { modern: true }).fragment)
    .map(([at, text]): Found => {
      const rest = Object.keys(NAMES).reduce((left, name) => left.replaceAll(name, ''), text);
      return [at, WORD.test(rest) ? text.trim() : ''];
    })
    .filter(([, text]) => text !== '')
    .map(([at, text]) => `${source.slice(0, at).split('\n').length}: ${text}`);

t.test('the rule finds what is shown, and nothing else', (t) => {
  const shown = [
    '<p>Hello</p>',
    '{#if isOpen}<b>{name}</b> is open{/if}',
    '<p>{isDone ? "Done" : texts.open}</p>',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the component's.
    '<p>{`at ${place}`}</p>',
    '<p>{count + " tags"}</p>',
    '<button aria-label="Close {name}">×</button>',
    '<input placeholder={isNew ? "A name" : ""} />',
    '<Page title="Tags" />',
    '<Table columns={[{ label: "Name" }]} />',
    '<Confirm {...(isLarge ? { typed: { label: "Type it" } } : { label: "Type" })} />',
  ];
  for (const markup of shown) t.equal(textsIn(markup).length, 1, markup);
  const silent = [
    '<p class="quiet">{texts.line} · {number(3)}</p>',
    '<script>const text = "Hello";</script><style>p { color: red }</style><!-- Hello -->',
    '{#if kind === "ios"}<Phone kind="ios" {title} />{/if}',
    '<input type="date" autocomplete="off" onchange={set("from")} />',
    '<svelte:head><title>{title} · Tagcast</title></svelte:head>',
    '<div class={["a", isOpen && "open"]} style:width="{px}px"></div>',
  ];
  for (const markup of silent) t.strictSame(textsIn(markup), [], markup);
  t.end();
});

t.test('what is read in the console comes from its texts', (t) => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.svelte'))
    .sort();
  t.ok(files.length > 0);
  const sources = files.map((file) => [file, readFileSync(join(SOURCE, file), 'utf8')] as const);
  for (const [file, source] of sources) t.strictSame(textsIn(source), [], `console/src/${file}`);
  for (const name of Object.keys(NAMES)) {
    t.ok(
      sources.some(([, source]) => source.includes(name)),
      `${name} is still an exception`,
    );
  }
  t.end();
});
