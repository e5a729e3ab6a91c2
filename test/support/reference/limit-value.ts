/** Evaluates a constant of the source, and writes it as people do. */

import { readText, SOURCES } from '../documents.ts';

const COMMENT = /(?<=^|\s)\/\/.*|\/\*[\s\S]*?\*\//gm;
/** Digits, operators and brackets: it can be evaluated, once its constants are numbers. */
const EXPRESSION = /^[\d\s.*+/()-]+$/;
const UNLIMITED = 'Number.POSITIVE_INFINITY';

/** Sources without comments, keyed by their paths below src/, or `packages/…`. */
const plainSources = new Map(
  SOURCES.map((path) => [path.replace(/^src\//, ''), readText(path).replaceAll(COMMENT, '')]),
);

/** The value of a constant, or of a member `NAME.member`, for people; '': it is none for them. */
export function valueText(file: string, name: string): string {
  const source = plainSources.get(file) ?? '';
  const [constant = '', member] = name.split('.');
  const initialiser = initialiserOf(source, constant) ?? '';
  if (member !== undefined) {
    const [, expression = ''] = new RegExp(`\\b${member}: ([^,{}]+)`).exec(initialiser) ?? [];
    return asText(member, expression, source);
  }
  const [, list] = /^(?:\w+\()?\[([^\]]+)\]/.exec(initialiser) ?? [];
  if (list !== undefined) {
    const entries = list.split(',').map((entry) => entry.trim());
    return entries
      .filter((entry) => entry !== '')
      .map((entry) => asText(constant, entry, source))
      .join(', ');
  }
  const [, members] = /^\{([^{}]+)\}/.exec(initialiser) ?? [];
  return members === undefined
    ? asText(constant, initialiser, source)
    : ofMembers(constant, members, source);
}

/** A range by its ends, and other objects by the names of their members. */
function ofMembers(constant: string, members: string, source: string): string {
  const pairs = [...members.matchAll(/(\w+): ([^,]+)/g)].map(([, key = '', expression = '']) => {
    const named = /^(?:from|to)$/.test(key) ? constant : key;
    return [key, asText(named, expression, source)] as const;
  });
  const told = pairs.filter(([, value]) => value !== '');
  const isRange = /^(?:base|from)/.test(pairs[0]?.[0] ?? '');
  return isRange
    ? told.map(([, value]) => value).join(' to ')
    : told.map(([key, value]) => `\`${key}\` ${value}`).join(', ');
}

function asText(name: string, expression: string, source: string): string {
  const [, text] = /^'([^']*)'$/.exec(expression.trim()) ?? [];
  const value = evaluate(text ?? expression, source);
  if (text !== undefined && value === null) return text;
  return value === null ? '' : written(name, value);
}

/** The text after `const NAME =`, to the end of the statement. */
function initialiserOf(source: string, name: string): string | null {
  const found = new RegExp(`^(?:export )?const ${name}(?:: [^=]+)? =\\s*([^;]+);`, 'm').exec(
    source,
  );
  return found?.[1] ?? null;
}

/** That of the file itself, else of whichever file exports the name. */
function findInitialiser(source: string, name: string): string | null {
  const own = initialiserOf(source, name);
  if (own !== null) return own;
  const exporting = [...plainSources.values()].find((other) =>
    other.includes(`export const ${name}`),
  );
  return exporting === undefined ? null : initialiserOf(exporting, name);
}

/** The number that an expression of literals and constants comes to; null: it is none. */
function evaluate(expression: string, source: string): number | null {
  if (expression.trim() === UNLIMITED) return Number.POSITIVE_INFINITY;
  const digits = expression
    .replaceAll(/\b[A-Z][A-Z0-9_]+\b/g, (name) =>
      String(evaluate(findInitialiser(source, name) ?? '', source)),
    )
    .replaceAll(/(?<=\d)_(?=\d)/g, '');
  if (!EXPRESSION.test(digits)) return null;
  return Number(new Function(`return (${digits})`)());
}

const DAY_MS = 86_400_000;
const TIMES = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;
const SIZES = [
  ['GiB', 1_073_741_824],
  ['MiB', 1_048_576],
  ['KiB', 1_024],
] as const;
/** Smaller sizes are given in bytes, like providers give theirs. */
const KIB_FROM_BYTES = 16_384;
/** Units that are parts of names and are written unchanged. */
const UNITS: Readonly<Record<string, string>> = {
  hours: 'h',
  days: 'days',
  mib: 'MiB',
  mb: 'MB',
  length: 'characters',
  characters: 'characters',
};

const number = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: 3 });

/** A value with the unit that the name of its constant has. */
export function written(name: string, value: number): string {
  if (value === Number.POSITIVE_INFINITY) return 'no limit';
  const words = name.split(/[_.]|(?=[A-Z][a-z])/).map((word) => word.toLowerCase());
  if (words.includes('epoch')) return number(value);
  if (words.includes('ms')) return time(value);
  if (words.includes('seconds')) return time(value * 1_000);
  if (words.includes('bytes') || words.includes('octets')) return size(value);
  if (words.includes('share') || (value > 0 && value < 1)) return `${number(value * 100)} %`;
  const unit = words.map((word) => UNITS[word]).find((unit) => unit !== undefined);
  return unit === undefined ? number(value) : `${number(value)} ${unit}`;
}

function time(ms: number): string {
  if (ms >= 2 * DAY_MS && ms % DAY_MS === 0) return `${number(ms / DAY_MS)} days`;
  const [unit, unitMs] = TIMES.find(([, unitMs]) => ms > 0 && ms % unitMs === 0) ?? [];
  if (unit !== undefined && unitMs !== undefined) return `${number(ms / unitMs)} ${unit}`;
  return ms > 1_000 ? `${number(ms / 1_000)} s` : `${number(ms)} ms`;
}

function size(bytes: number): string {
  const [unit, unitBytes] = SIZES.find(([, unitBytes]) => bytes % unitBytes === 0) ?? [];
  if (bytes < KIB_FROM_BYTES || unit === undefined || unitBytes === undefined) {
    return `${number(bytes)} bytes`;
  }
  return `${number(bytes / unitBytes)} ${unit}`;
}
