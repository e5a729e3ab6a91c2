/** A payload in several languages becomes one for each language tag, and one for the others. */

import { foreignText } from '../../packages/std/src/foreign-text.ts';
import type { JsonObject } from '../../packages/std/src/json.ts';
import { isObject } from '../../packages/std/src/json.ts';
import { languageTag, longestPrefix } from './language-tag.ts';
import type { PayloadFault } from './payload.ts';
import { PAYLOAD_CHARACTERS_MAX } from './payload-bounds.ts';

/** @publisherLimit tags of languages in a payload, or languages of `@language` → `400` */
export const LANGUAGES_MAX = 32;

const TEXTS = ['title', 'message', 'body', 'url', 'image', 'sound'] as const;

const DEFAULT = 'default';

/** @limit characters of a name that is no language, in its fault → cut */
const KEY_LENGTH_SHOWN = 64;
/** @limit faults of the languages of a text that are reported → not reported */
const FAULTS_SHOWN_MAX = 10;

/** In place of the map of tags: the languages of devices are their attribute `language`. */
const BY_ATTRIBUTE = '@language';

type Localised =
  /** The payload is in one language: `languages`, if it is there, is data like another field. */
  | { readonly kind: 'plain' }
  | {
      readonly kind: 'localised';
      readonly whole: JsonObject;
      readonly languages: LocalisedPayloads;
    }
  | { readonly kind: 'invalid'; readonly faults: readonly PayloadFault[] };

/** The payload for devices with a tag, or with a language as their attribute. */
export type LocalisedPayloads = readonly (
  | { readonly tagSourceId: string; readonly given: JsonObject }
  | { readonly language: string; readonly given: JsonObject }
)[];

export function localise(given: JsonObject): Localised {
  const { languages } = given;
  const maps = TEXTS.filter((name) => isObject(given[name]));
  if (maps.length === 0) return { kind: 'plain' };
  if (languages === BY_ATTRIBUTE) return localiseByAttribute(given, maps);
  if (!isObject(languages)) return { kind: 'plain' };
  const faults = [...faultsOfLanguages(languages), ...maps.flatMap((name) => faultsOfMap(name))];
  if (faults.length > 0) return { kind: 'invalid', faults };
  const ofDefault = String(languages[DEFAULT]);
  const tags = Object.entries(languages).filter(([name]) => name !== DEFAULT);
  const byLanguage = new Map<unknown, JsonObject>();
  for (const language of new Set(Object.values(languages))) {
    const one = inLanguage(String(language));
    if (charactersOf(maps.map((name) => one[name])) > PAYLOAD_CHARACTERS_MAX) {
      const message = `has more than ${PAYLOAD_CHARACTERS_MAX} characters in ${JSON.stringify(language)}.`;
      return { kind: 'invalid', faults: [{ path: 'payload', message }] };
    }
    byLanguage.set(language, one);
  }
  const ofLanguage = (language: unknown): JsonObject => byLanguage.get(language) ?? {};
  return {
    kind: 'localised',
    whole: ofLanguage(ofDefault),
    languages: tags.map(([tagSourceId, language]) => ({
      tagSourceId,
      given: ofLanguage(language),
    })),
  };

  function faultsOfMap(name: string): readonly PayloadFault[] {
    const map = given[name] as JsonObject;
    const known = new Set(Object.values(languages as JsonObject));
    const path = `payload.${name}`;
    const unknown = Object.keys(map).filter((language) => !known.has(language));
    const isWithout = !Object.hasOwn(map, String((languages as JsonObject)[DEFAULT]));
    return [
      ...unknown.slice(0, 1).map((language) => ({
        path,
        message: `is in ${JSON.stringify(language)}, which is no language of payload.languages.`,
      })),
      ...(isWithout ? [{ path, message: 'has no text in the default language.' }] : []),
    ];
  }

  /** A text that is missing in it stands in the default language. */
  function inLanguage(language: string): JsonObject {
    const entries = Object.entries(given).flatMap(([name, value]) => {
      if (name === 'languages') return [];
      if (!(maps as readonly string[]).includes(name)) return [[name, value] as const];
      const map = value as JsonObject;
      return [[name, map[Object.hasOwn(map, language) ? language : ofDefault]] as const];
    });
    return Object.fromEntries(entries);
  }
}

/** One for each language that a text has; each text in the longest prefix of it that it has. */
function localiseByAttribute(given: JsonObject, maps: readonly string[]): Localised {
  const texts = new Map(maps.map((name) => [name, textsOf(name, given[name] as JsonObject)]));
  const faults = [...texts.values()].flatMap((one) => one.faults);
  const languages = new Set(
    [...texts.values()].flatMap(({ byLanguage }) => [...byLanguage.keys()]),
  );
  if (languages.size > LANGUAGES_MAX) {
    const message = `has texts in more than ${LANGUAGES_MAX} languages.`;
    faults.push({ path: 'payload', message });
  }
  if (faults.length > 0) return { kind: 'invalid', faults };
  const inLanguage = (language: string): JsonObject => {
    const { languages: _, ...whole } = given;
    const chosen = [...texts].map(([name, { byLanguage, ofDefault }]) => {
      const prefix = longestPrefix(language, byLanguage);
      return [name, prefix === null ? ofDefault : byLanguage.get(prefix)] as const;
    });
    return { ...whole, ...Object.fromEntries(chosen) };
  };
  const made = [...languages].map((language) => ({ language, given: inLanguage(language) }));
  // No language has the empty name.
  const whole = inLanguage('');
  const tooLong = [whole, ...made.map((one) => one.given)].some(
    (one) => charactersOf(maps.map((name) => one[name])) > PAYLOAD_CHARACTERS_MAX,
  );
  if (!tooLong) return { kind: 'localised', whole, languages: made };
  const message = `has more than ${PAYLOAD_CHARACTERS_MAX} characters in one of its languages.`;
  return { kind: 'invalid', faults: [{ path: 'payload', message }] };
}

interface TextsOfField {
  readonly byLanguage: ReadonlyMap<string, unknown>;
  readonly ofDefault: unknown;
  readonly faults: readonly PayloadFault[];
}

function textsOf(name: string, map: JsonObject): TextsOfField {
  const path = `payload.${name}`;
  const byLanguage = new Map<string, unknown>();
  const faults: PayloadFault[] = [];
  for (const [key, text] of Object.entries(map)) {
    if (key === DEFAULT) continue;
    const language = languageTag(key);
    if (language === null) {
      const message =
        'is no language tag: language, script and region as in de-CH or zh-Hant-TW, or default.';
      faults.push({ path: `${path}.${foreignText(key, KEY_LENGTH_SHOWN)}`, message });
    } else if (byLanguage.has(language)) {
      faults.push({ path: `${path}.${key}`, message: `is the language ${language} again.` });
    } else byLanguage.set(language, text);
  }
  if (!Object.hasOwn(map, DEFAULT)) {
    faults.push({ path, message: 'has no default: the text for devices of other languages.' });
  }
  return { byLanguage, ofDefault: map[DEFAULT], faults: faults.slice(0, FAULTS_SHOWN_MAX) };
}

const charactersOf = (texts: readonly unknown[]): number =>
  texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);

/** The fields that hold texts in several languages, and how much more than others they may hold. */
export const furtherTexts = (given: JsonObject) =>
  isObject(given['languages']) || given['languages'] === BY_ATTRIBUTE
    ? {
        fields: TEXTS.filter((name) => isObject(given[name])),
        charactersMax: LANGUAGES_MAX * PAYLOAD_CHARACTERS_MAX,
      }
    : { fields: [], charactersMax: 0 };

function faultsOfLanguages(languages: JsonObject): readonly PayloadFault[] {
  const path = 'payload.languages';
  const entries = Object.entries(languages);
  const isText = ([, language]: readonly [string, unknown]) =>
    typeof language === 'string' && language !== '';
  if (!entries.every(isText)) {
    return [{ path, message: 'must have the language of each tag, as a text.' }];
  }
  if (!Object.hasOwn(languages, DEFAULT)) {
    const message = `has no ${DEFAULT}: the language of devices that have none of the tags.`;
    return [{ path, message }];
  }
  if (entries.length - 1 > LANGUAGES_MAX) {
    return [{ path, message: `has more than ${LANGUAGES_MAX} tags.` }];
  }
  return [];
}
