/** docs/decisions/: one form for all pages, and an index that has each of them by its title. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT, readText } from '../support/documents.ts';

const FOLDER = 'docs/decisions';
const STATUS = /^Status: accepted\b/m;
/** Sections of a page, in this order; each but the first two may be missing. */
const SECTIONS = ['Context', 'Decision', 'Measured', 'Consequences', 'Not taken'];

const pages = readdirSync(join(ROOT, FOLDER)).filter((file) => /^\d{4}-.*\.md$/.test(file));
/** Without the ends of lines. */
const index = readText(`${FOLDER}/README.md`).split(/\s+/).join(' ');

t.test('every decision has a title, a status, and the sections of all', (t) => {
  t.ok(pages.length > 50, `${pages.length} decisions`);
  for (const page of pages) {
    const text = readText(`${FOLDER}/${page}`);
    const [, number, title] = /^# (\d+)\. (.+)$/m.exec(text) ?? [];
    t.equal(number, String(Number(page.slice(0, 4))), `${page}: its number`);
    t.match(text, STATUS, `${page}: its status`);
    const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, name = '']) => name);
    t.same(sections.slice(0, 2), SECTIONS.slice(0, 2), `${page}: context and decision`);
    for (const name of sections) t.ok(SECTIONS.includes(name), `${page}: ${name}`);
    t.ok(index.includes(`[${number}](${page}): ${title}`), `${page} is in the index`);
  }
  t.end();
});

t.test('the index names nothing that is gone', (t) => {
  const named = [...index.matchAll(/\]\((\d{4}-[^)]+)\)/g)].map(([, file = '']) => file);
  t.same(named.toSorted(), pages.toSorted());
  t.end();
});
