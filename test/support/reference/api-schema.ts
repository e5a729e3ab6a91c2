/** JSON Schemas of the OpenAPI document in words: the type of a value, the fields of an object. */

import { z } from 'zod';
import { platformId } from '../../../src/http/openapi/parts.ts';
import { tableOf } from './table.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

const ID_MAX = 2_147_483_647;
const DIGITS_OF_AN_ID = '^\\d{1,10}$';
const DIGITS_OF_A_TIME = '^\\d{1,16}$';
const MILLISECONDS = 'Milliseconds since 1970.';
const PLATFORMS = z.toJSONSchema(platformId).description;
/** Said of every value of a type: the head of the page explains them. */
const SAID_BY_TYPE: readonly unknown[] = [
  MILLISECONDS,
  'ISO 8601 with a time zone, or milliseconds since 1970.',
  PLATFORMS,
];

/** The type of a value, in a few words. */
export function typeText(schema: Schema): string {
  const choices = choicesOf(schema);
  const types = new Set(choices.filter(({ type }) => type !== 'null').map(nameOf));
  const isNullable = choices.some(({ type }) => type === 'null') || hasNull(schema);
  const isTime = types.has('time');
  const named = [...types].filter((name) => !(isTime && ['text', 'number'].includes(name)));
  return [...withLists(named), ...(isNullable ? ['null'] : [])].join(' or ');
}

/** The schemas of which a value has one, without those that the others include. */
function choicesOf({ anyOf, ...schema }: Schema): readonly Schema[] {
  if (anyOf === undefined) return [schema];
  const choices = anyOf.flatMap(choicesOf);
  if (choices.some(({ pattern }) => pattern === DIGITS_OF_AN_ID)) {
    const isId = ({ type, pattern }: Schema): boolean =>
      type === 'number' || type === 'integer' || pattern === DIGITS_OF_AN_ID;
    return [ID, ...choices.filter((choice) => !isId(choice))];
  }
  if (choices.some(({ pattern }) => pattern === DIGITS_OF_A_TIME))
    return [TIME, ...nullsOf(choices)];
  return choices;
}

const ID: Schema = { type: 'integer', minimum: 1, maximum: ID_MAX };
const TIME: Schema = { type: 'integer', description: MILLISECONDS };
const nullsOf = (schemas: readonly Schema[]) => schemas.filter(({ type }) => type === 'null');
const hasNull = ({ type }: Schema): boolean => Array.isArray(type) && type.includes('null');

/** `id` and `list of id` are one or several. */
function withLists(names: readonly string[]): readonly string[] {
  const isListed = (name: string): boolean =>
    names.some((other) => other.startsWith(`list of ${name}`));
  return names
    .filter((name) => !isListed(name))
    .map((name) => {
      const one = names.find((other) => isListed(other) && name.startsWith(`list of ${other}`));
      return one === undefined ? name : `${one} or ${name}`;
    });
}

function nameOf(schema: Schema): string {
  const { $ref, type, items, enum: words, additionalProperties: entries } = schema;
  if ($ref !== undefined) return linkTo($ref);
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (words !== undefined) return words.map((word) => `\`${word}\``).join(', ');
  if (items !== undefined)
    return `list of ${typeText(items)}${bounds(schema.minItems, schema.maxItems)}`;
  const types = [type ?? 'any'].flat().filter((one) => one !== 'null');
  const [plain] = types;
  if (types.length > 1) return types.map((one) => nameOf({ type: one })).join(' or ');
  switch (plain) {
    case 'integer':
      return integerName(schema);
    case 'string':
      return textName(schema);
    case 'object':
      return typeof entries === 'object' && Object.keys(entries).length > 0
        ? `object of ${typeText(entries)}`
        : 'object';
    default:
      return plain ?? 'any';
  }
}

function integerName({ minimum, maximum, description }: Schema): string {
  if (description === MILLISECONDS) return 'time';
  if (description === PLATFORMS) return 'platform';
  if (minimum === 1 && maximum === ID_MAX) return 'id';
  return `integer${bounds(minimum, maximum)}`;
}

function textName({ format, minLength, maxLength, pattern }: Schema): string {
  if (format === 'uuid') return 'UUID';
  if (format !== undefined) return format;
  const form = pattern === undefined ? '' : ` \`${pattern}\``;
  return `text${bounds(minLength, maxLength)}${form}`;
}

function bounds(from: number | undefined, to: number | undefined): string {
  if (to !== undefined)
    return ` (${from === undefined ? 'up to ' : `${written(from)}–`}${written(to)})`;
  return from === undefined || from === 0 ? '' : ` (from ${written(from)})`;
}

const written = (value: number): string => value.toLocaleString('en');
const linkTo = (reference: string): string => {
  const name = reference.split('/').at(-1) ?? '';
  return `[${name}](#${name.toLowerCase()})`;
};

/** A table of the fields, those of objects inside by their paths; '': it has none. */
export function fieldsTable(schema: Schema): string {
  const rows = fieldRows(schema, '');
  return rows.length === 0 ? '' : `${tableOf(['field', 'type', 'meaning'], rows)}`;
}

function fieldRows(schema: Schema, path: string): readonly (readonly string[])[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([name, field]) => {
    const here = `\`${path}${name}\``;
    const isRequired = required.includes(name);
    const inside = insideOf(field);
    return [
      [isRequired ? `**${here}**` : here, typeOfField(name, field), meaningOf(field)],
      ...(inside === null ? [] : fieldRows(inside.schema, `${path}${name}${inside.suffix}`)),
    ];
  });
}

/**
 * A number that happens to have the bounds of an id is none by its name. An integer without bounds
 * is a time by its name, where its own description stands in place of that of a time.
 */
function typeOfField(name: string, field: Schema): string {
  const type = typeText(field);
  if (/(At|Until)$/.test(name)) return type.replace(/^integer(?! \()/, 'time');
  return /ids?$/i.test(name) ? type : type.replace(/^id\b/, `integer${bounds(1, ID_MAX)}`);
}

/** The object whose fields a field has, in itself or in each entry of its list. */
function insideOf(field: Schema): { readonly schema: Schema; readonly suffix: string } | null {
  for (const choice of choicesOf(field)) {
    if (choice.properties !== undefined) return { schema: choice, suffix: '.' };
    const entry = choice.items === undefined ? null : insideOf(choice.items);
    if (entry !== null) return { schema: entry.schema, suffix: '[].' };
  }
  return null;
}

/** Its own words, else those of what it may be. */
function meaningOf(field: Schema): string {
  const said = [field, ...(field.anyOf ?? []).flatMap((one) => [one, ...(one.anyOf ?? [])])];
  const texts = new Set(said.map(({ description = '' }) => description));
  return [...texts]
    .filter((text) => !SAID_BY_TYPE.includes(text))
    .join(' ')
    .trim();
}
