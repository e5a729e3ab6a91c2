/** docs/operating.md says what there is: metrics, log messages, settings and constants by their names, and links that lead somewhere. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { schema } from '../../src/config.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const DOCUMENTS = ['docs/operating.md', 'docs/scaling.md'];

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const source = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => read(join('src', file)))
  .join('\n');

/** What stands in back quotes. */
const quoted = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '');

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();

const metricsIn = (text: string): readonly string[] =>
  unique([...text.matchAll(/\btagcast_[a-z]+_[a-z_]+/g)].map(([name]) => name));

t.test('every metric is there, and explained', (t) => {
  const metrics = metricsIn(
    ['metrics', 'index-metrics', 'thread-metrics']
      .map((file) => read(`src/telemetry/${file}.ts`))
      .join('\n'),
  );
  t.ok(metrics.length > 5);
  t.same(metricsIn(read('docs/operating.md')), metrics);
  t.end();
});

t.test('every log message is one', (t) => {
  const rows = [...read('docs/operating.md').matchAll(/^\| [3-6]0 \| (.+?) \|/gm)];
  const messages = rows.flatMap((row) => quoted(row[1] ?? ''));
  t.ok(messages.length > 20);
  for (const message of messages) t.ok(source.includes(message), message);
  t.end();
});

t.test('every setting and constant exists', (t) => {
  /** Of others than this engine: of config/.env. */
  const foreign = ['POSTGRES_PASSWORD'];
  for (const document of DOCUMENTS) {
    const names = unique(quoted(read(document)).filter((text) => /^[A-Z]+(_[A-Z]+)+$/.test(text)));
    t.ok(names.length > 1);
    for (const name of names) {
      const isThere = name in schema.shape || new RegExp(`\\b${name}\\b`).test(source);
      t.ok(isThere || foreign.includes(name), `${document}: ${name}`);
    }
  }
  t.end();
});

t.test('every link leads somewhere', (t) => {
  for (const document of DOCUMENTS) {
    for (const [, target = ''] of read(document).matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? document : join(dirname(document), path);
      t.ok(existsSync(join(ROOT, file)), `${document}: ${target}`);
      if (anchor === undefined || !file.endsWith('.md')) continue;
      t.ok(anchorsOf(read(file)).includes(anchor), `${document}: ${target}`);
    }
  }
  t.end();
});

/** As GitHub makes them: the second of one name ends in -1. */
function anchorsOf(text: string): readonly string[] {
  const seen = new Map<string, number>();
  return [...text.matchAll(/^#+ (.+)$/gm)].map((match) => {
    const anchor = (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}
