/** The texts of a draft in several languages, as the engine takes them. */

import type { Payload } from '../../../packages/client/src/openapi.ts';
import type { DraftFields, LanguageText } from '../state/draft.svelte.ts';
import { languageTexts as texts } from '../texts/languages.ts';

const TEXTS = ['title', 'message', 'url', 'image'] as const;
/** The engine takes so many tags of languages. */
const TAGS_MAX = 32;

type WithLanguages = Pick<
  DraftFields,
  'languages' | 'defaultLanguage' | 'title' | 'message' | 'url' | 'image'
>;

/** A language of the draft that can be sent: it has a name, tags and a text. */
const isWhole = ({ language, tags, ...texts }: LanguageText): boolean =>
  language.trim() !== '' &&
  tags.length > 0 &&
  tags.every(({ sourceId }) => sourceId !== undefined) &&
  TEXTS.some((name) => texts[name] !== '');

/** Those that can be sent; none as long as the default one has no name. */
export const wholeLanguages = ({
  languages,
  defaultLanguage,
}: WithLanguages): readonly LanguageText[] =>
  defaultLanguage.trim() === '' ? [] : languages.filter(isWhole);

/**
 * The texts that differ by language, and the language of each tag: the fields of a payload that
 * take the place of plain ones. None where all people get the same.
 */
export function localisedTexts(fields: WithLanguages): Payload {
  const languages = wholeLanguages(fields);
  if (languages.length === 0) return {};
  const ofDefault = fields.defaultLanguage.trim();
  const maps = TEXTS.filter((name) => languages.some((one) => one[name] !== '')).map((name) => {
    const others = languages.map((one) => [one.language.trim(), one[name]] as const);
    const all = [[ofDefault, fields[name]] as const, ...others];
    return [name, Object.fromEntries(all.filter(([, text]) => text !== ''))] as const;
  });
  const tags = languages.flatMap(({ tags, language }) =>
    tags.map(({ sourceId = '' }) => [sourceId, language.trim()] as const),
  );
  // The description of the API names the texts as plain ones alone.
  return {
    ...Object.fromEntries(maps),
    languages: { ...Object.fromEntries(tags), default: ofDefault },
  } as Payload;
}

/** The draft as people of a language get it; '': of the default one. */
export function inLanguage(fields: DraftFields, language: string): DraftFields {
  const one = wholeLanguages(fields).find((each) => each.language.trim() === language);
  const own = TEXTS.map((name) => [name, one?.[name] || fields[name]] as const);
  return { ...fields, ...Object.fromEntries(own), languages: [], defaultLanguage: '' };
}

/** Why the languages cannot be sent; '': they can. */
export function languageFaultOf(fields: WithLanguages): string {
  const { languages, defaultLanguage } = fields;
  if (languages.length === 0) return '';
  const names = [defaultLanguage, ...languages.map(({ language }) => language)].map((one) =>
    one.trim(),
  );
  if (names[0] === '') return texts.noDefault;
  if (names.includes('')) return texts.noName;
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return texts.twice(twice);
  for (const one of languages) {
    const fault = faultOfOne(one, fields);
    if (fault !== '') return fault;
  }
  const tags = languages.flatMap((one) => one.tags);
  const shared = tags.find(({ id }, at) => tags.findIndex((one) => one.id === id) !== at);
  if (shared !== undefined) return texts.sharedTag(shared.name);
  return tags.length > TAGS_MAX ? texts.tooManyTags(TAGS_MAX) : '';
}

function faultOfOne(one: LanguageText, fields: WithLanguages): string {
  const language = one.language.trim();
  if (one.tags.length === 0) return texts.noTag(language);
  const nameless = one.tags.find(({ sourceId }) => sourceId === undefined);
  if (nameless !== undefined) return texts.noSourceId(nameless.name);
  const written = TEXTS.filter((name) => one[name] !== '');
  if (written.length === 0) return texts.noText(language);
  const missing = written.find((name) => fields[name] === '');
  return missing === undefined ? '' : texts.noDefaultText(texts.fieldNames[missing], language);
}
