/**
 * Checks the words of comments, messages and documents: the rules of "Plain English" in
 * CONTRIBUTING.md that a machine can hold.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import t from 'tap';
import { DOCUMENTS, readText } from './support/documents.ts';

/** From dist/test back to the root of the repository. */
const ROOT = join(import.meta.dirname, '..', '..');

/** A comment that begins so has no subject, or a clause in its place. */
const OPENING = /^(?:What|Of|As|Likewise|By)\b/;

/** Words that are this project's own, and the field's word for each. */
const WORDS: readonly (readonly [word: RegExp, better: string])[] = [
  [/\b(?:told|tells|telling)\b/i, 'reported, shows, says'],
  [/\banew\b/i, 'again'],
  [/\blots?\b/i, 'batch'],
  [/\bwhoever\b/i, 'the caller, the node, the person'],
  [/\bdesk\b/i, 'host'],
];

/** In comments, which are about processes and the order of things. */
const COMMENT_WORDS: typeof WORDS = [
  ...WORDS,
  [/\btell\b/i, 'report, show, say'],
  [/\bnobody\b/i, 'no caller, no node, no person'],
  [/\bbehind (?!(?:a|an|one) (?:address|balancer|proxy)\b)/i, 'after, older'],
];

const MADE = join('client', 'src', 'openapi.ts');

const listSources = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|mjs|svelte)$/.test(file) && !file.endsWith(MADE))
    .filter((file) => !file.split(sep).includes('node_modules'))
    .map((file) => join(folder, file))
    .sort();

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const BLOCK = /^[ \t]*\/\*\*?(?!\*)[\s\S]*?\*\/|^[ \t]*<!--[\s\S]*?-->/gm;
const LINES = /(?:^[ \t]*\/\/.*\n?)+/gm;

/** Comments that stand on lines of their own, each as one line of text. */
function commentsOf(source: string): readonly string[] {
  const blocks = [...source.matchAll(BLOCK)].map(([text]) => text);
  const lines = [...source.replaceAll(BLOCK, '').matchAll(LINES)].map(([text]) => text);
  return [...blocks, ...lines].map((text) =>
    text
      .replaceAll(/^[ \t]*(?:\/\*\*?|\*(?!\/)|\/\/|<!--)|\*\/$|-->$/gm, '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
}

const STRING = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

const SQL = /\b(?:select|insert into|delete from|update) |\bwith \w+ as \(/;

/** Strings of more than one word, but for statements of SQL: they have names of columns. */
const messagesOf = (source: string): readonly string[] =>
  [
    ...source
      .replaceAll(BLOCK, '')
      .replaceAll(/^[ \t]*\/\/.*$/gm, '')
      .matchAll(STRING),
  ]
    .map(([text]) => text.replaceAll(/\$\{\w+\}/g, ''))
    .filter((text) => text.includes(' ') && !SQL.test(text));

const wordFaults = (text: string, words: typeof WORDS): readonly string[] =>
  words
    .filter(([word]) => word.test(text))
    .map(([, better]) => `${text.slice(0, 120)} (say: ${better})`);

/** Without names of code. */
const proseOf = (text: string): string => text.replaceAll(/`[^`]*`/g, '``');

const commentFaults = (comment: string): readonly string[] =>
  OPENING.test(comment)
    ? [`${comment.slice(0, 120)} (begin with the subject or the verb)`]
    : wordFaults(proseOf(comment), COMMENT_WORDS);

t.test('the rules find what breaks them, and nothing else', (t) => {
  const broken = [
    '/** What a client may do. */',
    '/**\n * Of the request,\n * for the log.\n */',
    '  // As libpq does.',
    '<!-- By app and platform. -->',
    '/** The caller is told\n * that it must wait. */',
    '// The state is made anew.',
    '// The next page begins behind it.',
    '/** Nobody waits. */',
    '/** A lot of small sends. */',
  ];
  for (const source of broken) {
    t.equal(commentsOf(source).flatMap(commentFaults).length, 1, source);
  }
  const right = [
    '/** The request, as it came. */',
    '/** Reports what happened behind a proxy. */',
    '// `told` has the rows.',
    '// Whatever it is, the slot is free.\n// Allotted by the node.',
    "const url = 'http://nobody.example'; // told",
    'const text = `What`;',
  ];
  for (const source of right) t.strictSame(commentsOf(source).flatMap(commentFaults), [], source);

  const messages = (source: string) =>
    messagesOf(source).flatMap((text) => wordFaults(text, WORDS)).length;
  t.equal(messages("throw new Error('The caller was told.');"), 1);
  t.equal(messages('// It was told.\nlog.info(`The node begins anew.`);'), 1);
  t.equal(messages("const told = 'told'; sql`select told from waits`;"), 0);
  t.end();
});

for (const folder of ['src', 'packages', join('console', 'src'), 'test', 'bench']) {
  t.test(`comments of ${folder} are plain`, (t) => {
    const files = listSources(folder).filter((file) => !file.endsWith('tidy-prose.test.ts'));
    const faults = files.flatMap((file) =>
      commentsOf(read(file))
        .flatMap(commentFaults)
        .map((fault) => `${file}: ${fault}`),
    );
    t.strictSame(faults, []);
    t.ok(files.length > 10);
    t.end();
  });
}

t.test('messages are plain', (t) => {
  let held = 0;
  for (const file of [...listSources('src'), ...listSources(join('console', 'src', 'texts'))]) {
    for (const text of messagesOf(read(file))) {
      held += 1;
      t.strictSame(wordFaults(text, WORDS), [], file);
    }
  }
  t.ok(held > 1_000, `${held} messages`);
  t.end();
});

t.test('documents are plain', (t) => {
  let held = 0;
  for (const document of DOCUMENTS) {
    for (const line of readText(document).split('\n')) {
      held += 1;
      const faults = wordFaults(proseOf(line), WORDS);
      if (faults.length > 0) t.strictSame(faults, [], document);
    }
  }
  t.ok(held > 2_000, `${held} lines`);
  t.end();
});
