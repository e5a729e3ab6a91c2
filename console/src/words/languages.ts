/** The texts of a draft in several languages, as the engine takes them. */

import type { Payload } from '../../../packages/client/src/openapi.ts';
import { languageTag, longestPrefix } from '../../../src/domain/language-tag.ts';
import type { DraftFields, LanguageText } from '../state/draft.svelte.ts';
import { languageTexts as texts } from '../texts/languages.ts';

export const LANGUAGE_TEXTS = ['title', 'message', 'url', 'image'] as const;
/** The engine takes so many tags of languages, and so many languages of devices. */
const LANGUAGES_MAX = 32;
/** The engine's word in place of the tags of languages. */
export const BY_DEVICE = '@language';

export type WithLanguages = Pick<
  DraftFields,
  'languages' | 'languageBy' | 'defaultLanguage' | 'title' | 'message' | 'url' | 'image'
>;

/** A language of the draft that can be sent: it has a name, a text and what chooses it. */
const isWhole = (one: LanguageText, { languageBy }: WithLanguages): boolean => {
  if (!LANGUAGE_TEXTS.some((name) => one[name] !== '')) return false;
  if (languageBy === 'device') return languageTag(one.language.trim()) !== null;
  const { language, tags } = one;
  const isNamed = tags.every(({ sourceId }) => sourceId !== undefined);
  return language.trim() !== '' && tags.length > 0 && isNamed;
};

/** Those that can be sent; none as long as the default one has no name and tags choose. */
export function wholeLanguages(fields: WithLanguages): readonly LanguageText[] {
  const { languages, languageBy, defaultLanguage } = fields;
  if (languageBy === 'tags' && defaultLanguage.trim() === '') return [];
  return languages.filter((one) => isWhole(one, fields));
}

/** The name that the engine gives it; of tags the typed one. */
export const languageNameOf = (
  { language }: LanguageText,
  { languageBy }: Pick<WithLanguages, 'languageBy'>,
): string => {
  const typed = language.trim();
  return languageBy === 'device' ? (languageTag(typed) ?? typed) : typed;
};

/**
 * The texts that differ by language, and what chooses one: the fields of a payload that take the
 * place of plain ones. None where all people get the same.
 */
export function localisedTexts(fields: WithLanguages): Payload {
  const languages = wholeLanguages(fields);
  if (languages.length === 0) return {};
  const isByDevice = fields.languageBy === 'device';
  const ofDefault = isByDevice ? 'default' : fields.defaultLanguage.trim();
  const nameOf = (one: LanguageText): string => languageNameOf(one, fields);
  const written = LANGUAGE_TEXTS.filter((name) => languages.some((one) => one[name] !== ''));
  const maps = written.map((name) => {
    const others = languages.map((one) => [nameOf(one), one[name]] as const);
    const all = [[ofDefault, fields[name]] as const, ...others];
    return [name, Object.fromEntries(all.filter(([, text]) => text !== ''))] as const;
  });
  const tags = languages.flatMap((one) =>
    one.tags.map(({ sourceId = '' }) => [sourceId, nameOf(one)] as const),
  );
  // The description of the API names the texts as plain ones alone.
  return {
    ...Object.fromEntries(maps),
    languages: isByDevice ? BY_DEVICE : { ...Object.fromEntries(tags), default: ofDefault },
  } as Payload;
}

/** The draft as people of a language get it; '': of the default one. */
export function inLanguage(fields: DraftFields, language: string): DraftFields {
  const whole = wholeLanguages(fields);
  const textIn = (name: (typeof LANGUAGE_TEXTS)[number]): string => {
    const written = new Map(
      whole
        .map((one) => [languageNameOf(one, fields), one[name]] as const)
        .filter(([, text]) => text !== ''),
    );
    const chosen = fields.languageBy === 'device' ? longestPrefix(language, written) : language;
    return written.get(chosen ?? '') ?? fields[name];
  };
  const own = LANGUAGE_TEXTS.map((name) => [name, textIn(name)] as const);
  return { ...fields, ...Object.fromEntries(own), languages: [], defaultLanguage: '' };
}

/** Why the languages cannot be sent; '': they can. */
export function languageFaultOf(fields: WithLanguages): string {
  const { languages, languageBy } = fields;
  if (languages.length === 0) return '';
  const fault = nameFaultOf(fields);
  if (fault !== '') return fault;
  for (const one of languages) {
    const fault = (languageBy === 'tags' ? tagFaultOf(one) : '') || textFaultOf(one, fields);
    if (fault !== '') return fault;
  }
  if (languageBy === 'device') {
    return languages.length > LANGUAGES_MAX ? texts.tooManyLanguages(LANGUAGES_MAX) : '';
  }
  const tags = languages.flatMap((one) => one.tags);
  const shared = tags.find(({ id }, at) => tags.findIndex((one) => one.id === id) !== at);
  if (shared !== undefined) return texts.sharedTag(shared.name);
  return tags.length > LANGUAGES_MAX ? texts.tooManyTags(LANGUAGES_MAX) : '';
}

function nameFaultOf(fields: WithLanguages): string {
  const { languages, languageBy, defaultLanguage } = fields;
  const others = languages.map((one) => languageNameOf(one, fields));
  const names = languageBy === 'tags' ? [defaultLanguage.trim(), ...others] : others;
  if (languageBy === 'tags' && names[0] === '') return texts.noDefault;
  if (names.includes('')) return texts.noName;
  const unknown = names.find((name) => languageTag(name) === null);
  if (languageBy === 'device' && unknown !== undefined) return texts.noLanguage(unknown);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  return twice === undefined ? '' : texts.twice(twice);
}

function tagFaultOf({ language, tags }: LanguageText): string {
  if (tags.length === 0) return texts.noTag(language.trim());
  const nameless = tags.find(({ sourceId }) => sourceId === undefined);
  return nameless === undefined ? '' : texts.noSourceId(nameless.name);
}

function textFaultOf(one: LanguageText, fields: WithLanguages): string {
  const language = one.language.trim();
  const written = LANGUAGE_TEXTS.filter((name) => one[name] !== '');
  if (written.length === 0) return texts.noText(language);
  const missing = written.find((name) => fields[name] === '');
  return missing === undefined ? '' : texts.noDefaultText(texts.fieldNames[missing], language);
}
