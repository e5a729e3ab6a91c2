/** The language in which requests are shown; remembered in this browser. */

import type { Language } from '../words/request-code.ts';
import { LANGUAGES } from '../words/request-code.ts';

const KEY = 'tagcast-language';

class LanguageChoice {
  #chosen = $state<Language>(read());

  get chosen(): Language {
    return this.#chosen;
  }

  set chosen(language: Language) {
    this.#chosen = language;
    localStorage.setItem(KEY, language);
  }
}

function read(): Language {
  const kept = localStorage.getItem(KEY);
  return LANGUAGES.find((language) => language === kept) ?? 'curl';
}

export const language = new LanguageChoice();
