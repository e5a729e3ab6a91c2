/** Documents as tests read them: their text, their tables, and the sources that they speak of. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** From dist/test/support back to the root of the repository. */
export const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The names of the packages. */
export const PACKAGES: readonly string[] = readdirSync(join(ROOT, 'packages'), {
  withFileTypes: true,
})
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** Documents about the present; docs/decisions/ and CHANGELOG.md describe how it came about. */
export const DOCUMENTS: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...PACKAGES.map((name) => `packages/${name}/README.md`),
  ...['docs', 'docs/guide', 'docs/operate', 'docs/reference', 'docs/internals'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => `${folder}/${file}`),
  ),
];

/** The pages of docs/decisions/, with their index. */
export const decisions: readonly string[] = readdirSync(join(ROOT, 'docs/decisions')).map(
  (file) => `docs/decisions/${file}`,
);

export const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Paths of all TypeScript files under `folder`, as from the root. */
export const sourcesIn = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`);

/** All of src and of the packages. */
export const SOURCES: readonly string[] = [
  ...sourcesIn('src'),
  ...PACKAGES.flatMap((name) => sourcesIn(`packages/${name}/src`)),
];

/** The part of a document below `heading`, to the next heading of its level or a higher one. */
export function sectionOf(document: string, heading: string): string {
  const [level = ''] = heading.split(' ');
  const [, after = ''] = `\n${document}`.split(`\n${heading}\n`);
  return after.split(new RegExp(`^#{1,${level.length}} `, 'm'))[0] ?? '';
}

/** One row of a table: its cells by the names in the table's head. */
export type Row = Readonly<Record<string, string>>;

/** Every row of every table, in order. A cell may hold `|` after a backslash. */
export function rowsOf(text: string): readonly Row[] {
  const rows: Row[] = [];
  let head: readonly string[] | null = null;
  for (const line of text.split('\n')) {
    if (!line.startsWith('|')) head = null;
    else if (head === null) head = cellsOf(line);
    else if (!/^\|[\s:|-]+\|$/.test(line)) {
      const cells = cellsOf(line);
      rows.push(Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ''])));
    }
  }
  return rows;
}

const cellsOf = (line: string): readonly string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The text between backticks. */
export const quotedIn = (text: string): readonly string[] =>
  [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(
    ([, quoted = '']) => quoted,
  );

/** The files that a path in a document means: `*` is any one name, `{a,b}` either. */
export function matching(path: string, files: Iterable<string>): readonly string[] {
  const pattern = path
    .replaceAll(/[.+]/g, '\\$&')
    .replaceAll('*', '[^/]+')
    .replaceAll(/\{([^}]+)\}/g, (_, names: string) => `(${names.replaceAll(/,\s*/g, '|')})`);
  const expected = new RegExp(`^${pattern}$`);
  return [...files].filter((file) => expected.test(file));
}
