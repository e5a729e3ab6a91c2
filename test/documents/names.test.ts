/**
 * Names in documents exist: links, paths, variables, metrics, log lines, problems. docs/decisions/
 * are history: only their links are held.
 */

import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { PROBLEMS } from '../../src/api/openapi/descriptions.ts';
import { schema } from '../../src/app/config.ts';
import { TITLES } from '../../src/http/problem.ts';
import {
  DOCUMENTS,
  decisions,
  matching,
  PACKAGES,
  quotedIn,
  ROOT,
  readText,
  rowsOf,
  SOURCES,
  sectionOf,
  sourcesIn,
} from '../support/documents.ts';
import { declaredMetrics, shownMetrics } from '../support/reference/metrics.ts';

const source = SOURCES.map(readText).join('\n');
const operating = DOCUMENTS.filter((path) => path.startsWith('docs/operate/'))
  .map(readText)
  .join('\n');

/** Served by a running engine, beside the guides: test/console/guides.test.ts follows these. */
const OF_THE_ENGINE = /^\/(?:docs|console)\//;

t.test('every link between documents resolves, and so does its anchor', (t) => {
  for (const document of [...DOCUMENTS, ...decisions]) {
    for (const [, target = ''] of readText(document).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (target.includes('://') || OF_THE_ENGINE.test(target)) continue;
      const [file = '', anchor] = target.split('#');
      const path = file === '' ? document : join(dirname(document), file);
      t.ok(existsSync(join(ROOT, path)), `${document}: ${target}`);
      if (anchor === undefined) continue;
      t.ok(anchorsOf(readText(path)).includes(anchor), `${document}: ${target} is a heading`);
    }
  }
  t.end();
});

/** A page and its heading, as comments cite them. */
const CITED = /\binternals\/([\w-]+)\.md(?:, "([^"]+)"(?: and "([^"]+)")*)?/g;

t.test('every page of docs/internals that a comment cites exists, with its headings', (t) => {
  let held = 0;
  for (const file of [...SOURCES, ...['test', 'bench'].flatMap(sourcesIn)]) {
    // A citation may go on in the next line of a comment.
    const text = readText(file).replaceAll(/\s*\n\s*(?:\*|\/\/) ?/g, ' ');
    for (const [cited, page = ''] of text.matchAll(CITED)) {
      held += 1;
      const path = `docs/internals/${page}.md`;
      t.ok(existsSync(join(ROOT, path)), `${file}: ${path}`);
      for (const [, heading = ''] of cited.matchAll(/"([^"]+)"/g)) {
        t.match(readText(path), `## ${heading}\n`, `${file}: ${path}, ${heading}`);
      }
    }
  }
  t.ok(held > 50, `${held} citations are held`);
  t.end();
});

/** Anchors in GitHub's form; of two headings alike the second one ends in -1. */
function anchorsOf(text: string): readonly string[] {
  const seen = new Map<string, number>();
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

/**
 * A path of this project: folders, and a file or nothing after them; or a source file by its name
 * alone.
 */
const PATH = /^[\w.*{}, -]+\/[\w.*{}/, -]*$|^[\w-]+\.ts$/;
/** Paths that are made elsewhere, or later: by an engine, a build, a bench; and a request. */
const MADE_LATER = /^(GET \/|\.\.\/|dist\/|data\/|bench\/results\/|DATA_DIR\/|postgres|secret\/)/;

t.test('every path that a document names exists, below src/ or the root', (t) => {
  const folders = [
    ...['src', 'test', 'bench', 'config', 'docs', 'console/guides'],
    ...PACKAGES.map((name) => `packages/${name}/src`),
  ];
  const paths = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
      (path) => `${folder}/${path}`,
    ),
  );
  const known = [
    ...['packages', ...PACKAGES.map((name) => `packages/${name}`)],
    ...[...paths, ...paths.map((path) => path.replace(/^src\//, ''))],
  ];
  const names = paths.map((path) => path.split('/').at(-1) ?? '');
  let held = 0;
  for (const document of DOCUMENTS) {
    for (const quoted of quotedIn(readText(document))) {
      const path = quoted.replace(/\/$/, '');
      const isFile = path.endsWith('.ts');
      const isFolder = quoted.endsWith('/') || path.split('/')[0] === 'docs';
      if (!PATH.test(quoted) || MADE_LATER.test(quoted) || !(isFile || isFolder)) continue;
      held += 1;
      const found = matching(path, [...folders, ...known, ...names]);
      // Within the folder that the sentence is about: `apns/` of `providers/`.
      const isWithin = known.some((other) => other.endsWith(`/${path}`));
      t.ok(found.length > 0 || isWithin, `${document}: ${quoted}`);
    }
  }
  t.ok(held > 400, `${held} paths are held`);
  t.end();
});

/**
 * Variables that others read: Node.js, the SDK of OpenTelemetry, the C library, the test runner,
 * the load test, docker compose, the examples themselves.
 */
const OF_OTHERS = [
  // The guides' own, and Android's.
  'TAGCAST_URL',
  'APP_ID',
  'API_USER_TOKEN',
  'SUPER_USER_TOKEN',
  'TEAM_ID',
  'DEVICE_TOKEN',
  'POST_NOTIFICATIONS',
  'NODE_EXTRA_CA_CERTS',
  'MALLOC_ARENA_MAX',
  'POSTGRES_PASSWORD',
  'TEST_DATABASE_URL',
  'LOAD_APP_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SERVICE_NAME',
];

t.test('every variable that a document sets or shows in capitals exists', (t) => {
  const words = new Set(source.match(/\b[A-Z][A-Z0-9_]+\b/g));
  for (const document of DOCUMENTS) {
    const text = readText(document);
    for (const quoted of quotedIn(text)) {
      const [, name, isSet] = /^([A-Z]+(?:_[A-Z0-9]+)+)(=.*)?$/.exec(quoted) ?? [];
      if (name === undefined || OF_OTHERS.includes(name)) continue;
      if (isSet !== undefined) t.ok(name in schema.shape, `${document}: ${quoted} is a variable`);
      else t.ok(words.has(name), `${document}: ${name} exists`);
    }
    for (const [, name = ''] of text.matchAll(/^(?:export )?([A-Z]+_[A-Z_]+)=/gm)) {
      t.ok(name in schema.shape || OF_OTHERS.includes(name), `${document}: ${name} is a variable`);
    }
  }
  t.end();
});

t.test('these are all metrics that the source declares', (t) => {
  const inSource = new Set(source.match(/(?<=')tagcast_(?!session)\w+(?=')/g));
  t.same(
    [...inSource].toSorted(),
    declaredMetrics()
      .map(({ name }) => name)
      .toSorted(),
  );
  t.end();
});

t.test('errors.md has every reason that the console explains', (t) => {
  const reasons = sectionOf(readText('docs/guide/errors.md'), '## Why a device failed');
  const texts = readText('console/src/texts/notifications.ts').split('reasonTexts')[1] ?? '';
  const named = [...(texts.split('\n};')[0]?.matchAll(/^ {2}(\w+):/gm) ?? [])].map(
    ([, name = '']) => name,
  );
  t.ok(named.length > 10, `${named.length} reasons`);
  for (const reason of named) t.ok(reasons.includes(`\`${reason}\``), reason);
  t.end();
});

t.test('every metric that a document names exists', async (t) => {
  const names = (await shownMetrics()).map(({ name }) => name);
  for (const document of DOCUMENTS) {
    for (const [name] of readText(document).matchAll(/\btagcast_[a-z_]+[a-z]\b(?!\*|_)/g)) {
      const isKnown = names.some((known) => known === name || known.startsWith(`${name}_`));
      t.ok(isKnown, `${document}: ${name}`);
    }
  }
});

t.test('every log line that docs/operate quotes is in the source', (t) => {
  const rows = rowsOf(sectionOf(readText('docs/operate/monitor.md'), '## Logs'));
  let held = 0;
  for (const line of rows.flatMap((row) => quotedIn(row['`msg`'] ?? ''))) {
    held += 1;
    t.ok(source.includes(line.replace(/…$/, '')), line);
  }
  for (const quoted of quotedIn(operating).filter((quoted) => /^\w.* .*…$/.test(quoted))) {
    if (quoted.includes(' -- ') || quoted.startsWith('node ')) continue;
    t.ok(source.includes(quoted.slice(0, -1)), quoted);
  }
  t.ok(held > 50, `${held} lines are held`);
  t.end();
});

/** A call of the logger; the last text in it is the line. */
const LOGGED = /\blog\??\.(?:info|warn|error|fatal)\(([\s\S]*?)\);/g;
/** A line may go on after its beginning: with advice, with the command to use. */
const BEGINNING_LENGTH = 40;

t.test('every line that the source logs is in docs/operate', (t) => {
  let held = 0;
  for (const [, call = ''] of source.matchAll(LOGGED)) {
    const line = [...call.matchAll(/'((?:[^'\\\n]|\\.)+)'/g)].at(-1)?.[1];
    if (line === undefined) continue;
    held += 1;
    t.ok(operating.includes(line.slice(0, BEGINNING_LENGTH)), line);
  }
  t.ok(held > 40, `${held} lines are held`);
  t.end();
});

t.test('errors.md has every status that is answered, and examples say what is answered', (t) => {
  const guide = readText('docs/guide/errors.md');
  const calling = readText('docs/guide/api.md');
  const told = quotedIn(calling).filter((quoted) => /^[45]\d{2}$/.test(quoted));
  t.strictSame(Object.keys(PROBLEMS), Object.keys(TITLES), 'the document explains each problem');
  for (const status of [...Object.keys(TITLES), ...told]) {
    t.ok(sectionOf(guide, '## By status').includes(`\`${status}\``), `errors.md has ${status}`);
  }
  for (const [, detail = ''] of calling.matchAll(/"(?:detail|message)":"([^"]+)"/g)) {
    if (!/\d/.test(detail)) t.ok(source.includes(detail), detail);
  }
  t.end();
});
