/** Requests as lines to paste. */

export const requestTexts = {
  language: 'Language',
  languages: { curl: 'curl', typescript: 'TypeScript', python: 'Python', php: 'PHP' },
};
