/** Attributes of devices: the built-in ones, and what a client declares. */

import { DAY_ATTRIBUTE_NAMES } from './device-days.ts';
import type { NumberType } from './device-numbers.ts';
import { NUMBER_TYPES } from './device-numbers.ts';

export const ATTRIBUTE_TYPES = [
  'text',
  'language',
  'zone',
  'version',
  ...NUMBER_TYPES,
  'boolean',
] as const;
export type AttributeType = (typeof ATTRIBUTE_TYPES)[number];
/** Types with a dictionary: their values are facets. */
export type FacetType = Exclude<AttributeType, NumberType>;

/** Who may set it. */
export const SETTERS = ['app', 'server', 'both'] as const;
export type Setter = (typeof SETTERS)[number];

export interface Attribute {
  readonly id: number;
  readonly name: string;
  readonly type: AttributeType;
  readonly setBy: Setter;
  /** The apps whose devices have it; null: every app of its client. */
  readonly appIds: readonly number[] | null;
  /** Its values are in no list, log or webhook. */
  readonly isPersonal: boolean;
}

/** One whose values are in the dictionary. */
interface FacetAttribute extends Attribute {
  readonly type: FacetType;
}

/** An id of `attribute_values`: one value of one attribute. It is never an id of a tag. */
export type FacetId = number;

export const LANGUAGE_ID = -1;
export const TIMEZONE_ID = -2;
export const COUNTRY_ID = -3;

const builtIn = (id: number, name: string, type: FacetType): FacetAttribute => ({
  id,
  name,
  type,
  setBy: 'both',
  appIds: null,
  isPersonal: false,
});

/** Every client has them; no row stands for them. Their ids are in the database: never reused. */
export const BUILT_IN_ATTRIBUTES: readonly FacetAttribute[] = [
  builtIn(LANGUAGE_ID, 'language', 'language'),
  builtIn(TIMEZONE_ID, 'timezone', 'zone'),
  builtIn(COUNTRY_ID, 'country', 'text'),
  builtIn(-4, 'appVersion', 'version'),
  builtIn(-5, 'osVersion', 'version'),
];

/** Known of a device by its place: they have no values in the dictionary. */
export const SCOPE_ATTRIBUTE_NAMES = ['platform', 'app'] as const;

/** Names that a later version gives a meaning. */
const LATER_NAMES = ['lastOpened', 'quietHours'];

const RESERVED_NAMES: ReadonlySet<string> = new Set([
  ...BUILT_IN_ATTRIBUTES.map(({ name }) => name),
  ...SCOPE_ATTRIBUTE_NAMES,
  ...DAY_ATTRIBUTE_NAMES,
  ...LATER_NAMES,
]);

/** Whether a client can declare no attribute of this name. */
export const isReservedName = (name: string): boolean => RESERVED_NAMES.has(name);

/** @publisherLimit attributes that a client declares, besides the built-in ones → `409` */
export const ATTRIBUTES_PER_CLIENT_MAX = 32;
/** @publisherLimit attributes in a request → the others are ignored, and named */
export const ATTRIBUTES_PER_REQUEST_MAX = 40;
/** @publisherLimit name of an attribute, a letter in lower case first; at most → `400` */
export const ATTRIBUTE_NAME_LENGTH_MAX = 32;

export const ATTRIBUTE_NAME = /^[a-z][A-Za-z0-9_]{0,31}$/;

/**
 * A public credential can set them: what it fills stays small.
 * @publisherLimit different values of an attribute → a new one is ignored, and named
 */
const VALUES_MAX = 10_000;
/** @publisherLimit different values of an attribute of the type version → as above */
const VERSIONS_MAX = 2_000;

export const valuesMaxOf = (type: AttributeType): number =>
  type === 'version' ? VERSIONS_MAX : VALUES_MAX;
