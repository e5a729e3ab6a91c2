/**
 * The values of attributes in the one form in which they are kept and compared. Registrations call
 * it for each value that they give.
 */

import { CappedMap } from '../../packages/std/src/capped-map.ts';
import { isNameText } from '../std/name-text.ts';
import type { Attribute, FacetType } from './attributes.ts';
import { COUNTRY_ID } from './attributes.ts';

/** @publisherLimit characters of a value of an attribute → ignored, and named */
const ATTRIBUTE_VALUE_LENGTH_MAX = 64;

interface ValueOf extends Pick<Attribute, 'id'> {
  readonly type: FacetType;
}

/** The value as it is kept; null: it is none of this attribute. */
export function normalizeValue({ id, type }: ValueOf, value: unknown) {
  if (type === 'boolean') return normalizeBoolean(value);
  if (typeof value !== 'string' || value === '' || value.length > ATTRIBUTE_VALUE_LENGTH_MAX) {
    return null;
  }
  return id === COUNTRY_ID ? normalizeCountry(value) : NORMALIZERS[type](value);
}

function normalizeBoolean(value: unknown): string | null {
  if (value === true || value === 'true') return 'true';
  return value === false || value === 'false' ? 'false' : null;
}

const TWO_LETTERS = /^[a-z]{2}$/i;

/** ISO 3166-1 alpha-2, by its form: the list of countries changes. */
const normalizeCountry = (value: string): string | null =>
  TWO_LETTERS.test(value) ? value.toUpperCase() : null;

const normalizeText = (value: string): string | null => (isNameText(value) ? value : null);

const LANGUAGE_FORM = /^[a-z]{2,3}(?:[-_][a-z0-9]{1,8})*$/i;

/** BCP 47, also with underscores; kept are language, script and region. */
function normalizeLanguage(value: string): string | null {
  if (!LANGUAGE_FORM.test(value)) return null;
  try {
    const { language, script, region } = new Intl.Locale(value.replaceAll('_', '-'));
    // ICU has no text for a language that is not known.
    if (language === undefined || language === '' || language === 'und') return null;
    return [language, script, region].filter((part) => part !== undefined).join('-');
  } catch {
    return null;
  }
}

/** Digits of a number that JavaScript counts exactly. */
const VERSION_FORM = /^\d{1,15}(?!\d)(?:\.\d{1,15}(?!\d)){0,3}/;
const TRAILING_ZEROS = /(?:\.0)+$/;

/** Up to four numbers by dots; the rest is cut. Without zeros at the end: 5.2 is 5.2.0. */
function normalizeVersion(value: string): string | null {
  const numbers = VERSION_FORM.exec(value)?.[0];
  if (numbers === undefined) return null;
  return numbers.split('.').map(Number).join('.').replace(TRAILING_ZEROS, '');
}

/** Offsets such as +02:00 are no zones: they know nothing of summer time. */
const ZONE_FORM = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/;

/** The ICU of Node answers names that the tz database has replaced. */
const TODAYS_NAMES: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
};

/**
 * Asking ICU takes some 50 µs. There are some 600 names.
 * @limit names of zones that a thread remembers → the oldest is asked for again
 */
const ZONES_REMEMBERED_MAX = 2_000;
const zones = new CappedMap<string, string | null>({ sizeMax: ZONES_REMEMBERED_MAX });

function normalizeZone(value: string): string | null {
  if (!ZONE_FORM.test(value)) return null;
  const known = zones.get(value);
  if (known !== undefined) return known;
  const zone = askForZone(value);
  zones.set(value, zone);
  return zone;
}

function askForZone(value: string): string | null {
  try {
    const zone = new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
    return TODAYS_NAMES[zone] ?? zone;
  } catch {
    return null;
  }
}

const NORMALIZERS: Readonly<
  Record<Exclude<FacetType, 'boolean'>, (value: string) => string | null>
> = {
  text: normalizeText,
  language: normalizeLanguage,
  zone: normalizeZone,
  version: normalizeVersion,
};
