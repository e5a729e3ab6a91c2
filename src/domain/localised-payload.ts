/** A payload in several languages becomes one for each language tag, and one for the others. */

import type { JsonObject } from '../../packages/std/src/json.ts';
import { isObject } from '../../packages/std/src/json.ts';
import type { PayloadFault } from './payload.ts';
import { PAYLOAD_CHARACTERS_MAX } from './payload-bounds.ts';

/** @publisherLimit tags of languages in a payload → `400` */
export const LANGUAGES_MAX = 32;

const TEXTS = ['title', 'message', 'body', 'url', 'image', 'sound'] as const;

const DEFAULT = 'default';

type Localised =
  /** The payload is in one language: `languages`, if it is there, is data like another field. */
  | { readonly kind: 'plain' }
  | {
      readonly kind: 'localised';
      readonly whole: JsonObject;
      readonly byTag: readonly (readonly [tagSourceId: string, payload: JsonObject])[];
    }
  | { readonly kind: 'invalid'; readonly faults: readonly PayloadFault[] };

export function localise(given: JsonObject): Localised {
  const { languages } = given;
  const maps = TEXTS.filter((name) => isObject(given[name]));
  if (maps.length === 0 || !isObject(languages)) return { kind: 'plain' };
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
    byTag: tags.map(([sourceId, language]) => [sourceId, ofLanguage(language)]),
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

const charactersOf = (texts: readonly unknown[]): number =>
  texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);

/** The fields that hold texts in several languages, and how much more than others they may hold. */
export const furtherTexts = (given: JsonObject) =>
  isObject(given['languages'])
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
