/** Lines of prose in documents are short, so that a change shows as a change of lines. */

import t from 'tap';
import { DOCUMENTS, decisions, readText } from '../support/documents.ts';

const WIDTH_MAX = 100;
/** Made by `npm run docs`. */
const ELSEWHERE = /^docs\/reference\//;

t.test('no line of prose is wider than 100', (t) => {
  let held = 0;
  for (const document of ['CHANGELOG.md', ...DOCUMENTS, ...decisions]) {
    if (ELSEWHERE.test(document)) continue;
    const text = readText(document).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
    for (const line of text.split('\n')) {
      // Tables, headings and pictures have no second line; nor has a word.
      if (/^ *(?:\||#|!\[)/.test(line) || !line.trim().includes(' ')) continue;
      held += 1;
      t.ok(line.length <= WIDTH_MAX, `${document}: ${line}`);
    }
  }
  t.ok(held > 2_000, `${held} lines are held`);
  t.end();
});
