/** The languages of a notification that was sent, as a draft holds them. */

import { isObject } from '../../../packages/std/src/json.ts';
import { languageTag } from '../../../src/domain/language-tag.ts';
import type { LanguageText, PickedTag } from '../state/draft.svelte.ts';
import type { WithLanguages } from './languages.ts';
import { BY_DEVICE, LANGUAGE_TEXTS } from './languages.ts';

type Given = Readonly<Record<string, unknown>>;
/** A language, with the source ids of its tags. */
type SentLanguage = Omit<LanguageText, 'tags'> & { readonly sourceIds: readonly string[] };

type SentTexts = Omit<WithLanguages, 'languages'> & { readonly languages: readonly SentLanguage[] };

const DEFAULT = 'default';
/** A draft has no place for it in several languages. */
const OTHER_TEXTS = ['body', 'sound'];

/** Its texts. Null: a draft has no place for all of it. */
export function sentTexts(given: Given): SentTexts | null {
  if (OTHER_TEXTS.some((name) => isObject(given[name]))) return null;
  const isByDevice = given['languages'] === BY_DEVICE;
  const mapOf = (value: unknown): Given | null => {
    if (!isObject(value)) return null;
    return isByDevice ? byTag(value) : value;
  };
  const maps = new Map(LANGUAGE_TEXTS.map((name) => [name, mapOf(given[name])]));
  // In a draft an empty text means that of the default language; here it means none.
  if ([...maps.values()].some(hasEmptyText)) return null;
  const choice = choiceOf(given['languages'], [...maps.values()]);
  if (choice === null) return null;
  const { languageBy, ofDefault, tags } = choice;
  const textOf = (name: (typeof LANGUAGE_TEXTS)[number], language: string): string => {
    const text = maps.get(name)?.[language];
    return typeof text === 'string' ? text : '';
  };
  const ownTexts = (language: string) => ({
    title: textOf('title', language),
    message: textOf('message', language),
    url: textOf('url', language),
    image: textOf('image', language),
  });
  const { title, message = given['body'], url, image } = given;
  const plain = Object.entries({ title, message, url, image }).filter(
    ([, text]) => typeof text === 'string',
  );
  const languages = [...tags].map(([language, sourceIds]) => ({
    ...{ language, sourceIds },
    ...ownTexts(language),
  }));
  // One without a text of its own is none that the page could send.
  if (languages.some((one) => LANGUAGE_TEXTS.every((name) => one[name] === ''))) return null;
  return {
    ...ownTexts(ofDefault),
    ...Object.fromEntries(plain),
    languageBy,
    defaultLanguage: languageBy === 'tags' ? ofDefault : '',
    languages,
  };
}

const hasEmptyText = (map: Given | null): boolean =>
  map !== null && Object.values(map).some((text) => typeof text !== 'string' || text === '');

/** With the languages as the engine names them. */
const byTag = (map: Given): Given =>
  Object.fromEntries(Object.entries(map).map(([name, text]) => [languageTag(name) ?? name, text]));

interface Choice {
  readonly languageBy: WithLanguages['languageBy'];
  /** The key of the default texts. */
  readonly ofDefault: string;
  /** The other languages, with their tags. */
  readonly tags: ReadonlyMap<string, readonly string[]>;
}

function choiceOf(languages: unknown, maps: readonly (Given | null)[]): Choice | null {
  if (languages === BY_DEVICE) {
    const names = maps.flatMap((map) => Object.keys(map ?? {}));
    const others = [...new Set(names)].filter((name) => name !== DEFAULT);
    const tags = new Map(others.map((name) => [name, []]));
    return { languageBy: 'device', ofDefault: DEFAULT, tags };
  }
  if (!isObject(languages)) return null;
  const ofDefault = String(languages[DEFAULT]);
  const pairs = Object.entries(languages).filter(([name]) => name !== DEFAULT);
  const tags = new Map<string, string[]>();
  let last: unknown;
  for (const [sourceId, language] of pairs) {
    // A person gets the first of them: the tags of a language stand together in a draft.
    if (typeof language !== 'string' || language === ofDefault) return null;
    if (language !== last && tags.has(language)) return null;
    tags.set(language, [...(tags.get(language) ?? []), sourceId]);
    last = language;
  }
  return { languageBy: 'tags', ofDefault, tags };
}

/** The languages with their tags; one that is gone has no other name than its source id. */
export function withTags(
  languages: readonly SentLanguage[],
  known: ReadonlyMap<string, PickedTag>,
): LanguageText[] {
  const all = languages.flatMap(({ sourceIds }) => sourceIds);
  const goneTag = (sourceId: string): PickedTag => ({
    ...{ id: -1 - all.indexOf(sourceId), name: sourceId, sourceId },
    isGone: true,
  });
  return languages.map(({ sourceIds, ...texts }) => ({
    ...texts,
    tags: sourceIds.map((sourceId) => known.get(sourceId) ?? goneTag(sourceId)),
  }));
}
