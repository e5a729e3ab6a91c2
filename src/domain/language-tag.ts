/** Language tags as the attribute `language` has them, and which of some a device gets. */

import { normalizeValue } from './attribute-values.ts';
import { LANGUAGE_ID } from './attributes.ts';

/** Reads one as the attribute is kept; null: it is none, or says more than is kept. */
export function languageTag(text: string): string | null {
  const language = normalizeValue({ id: LANGUAGE_ID, type: 'language' }, text);
  return language === null || subtagsOf(language) < subtagsOf(text) ? null : language;
}

const SEPARATOR = /[-_]/;
const subtagsOf = (text: string): number => text.split(SEPARATOR).length;

/** The longest of the languages whose subtags this one begins with; null: there is none. */
export function longestPrefix(
  language: string,
  languages: { has(language: string): boolean },
): string | null {
  let prefix = language;
  while (prefix !== '') {
    if (languages.has(prefix)) return prefix;
    prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf('-')));
  }
  return null;
}
