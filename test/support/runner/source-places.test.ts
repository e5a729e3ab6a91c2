import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from './select.ts';
import { withSourcePlaces } from './source-places.ts';

/** The line of this file, counted from 1, that has a text. */
function lineWith(path: string, text: string): number {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
  return lines.findIndex((line) => line.includes(text)) + 1;
}

t.test('places in built files become those in their sources', (t) => {
  const source = 'test/support/runner/source-places.test.ts';
  const stack = new Error('here').stack ?? '';
  const line = lineWith(source, "new Error('here')");
  t.match(stack, /dist\/test\/support\/runner\/source-places\.test\.js:\d+:\d+/, 'no source maps');
  const mapped = withSourcePlaces(stack);
  t.match(mapped, new RegExp(`at [^\\n]*${source}:${line}:\\d+`));
  t.notMatch(mapped, /dist\/test\/support\/runner/);
  const [, built, column] = /source-places\.test\.js:(\d+):(\d+)/.exec(stack) ?? [];
  const place = (file: string, at: unknown) => `  fileName: ${file}\n  lineNumber: ${at}\n`;
  t.match(
    withSourcePlaces(
      `${place(`dist/${source.replace('.ts', '.js')}`, built)}  columnNumber: ${column}`,
    ),
    `${place(source, line)}  columnNumber: `,
  );
  t.end();
});

t.test('other texts stay as they are', (t) => {
  for (const text of ['dist/src/none.js:1:1', 'dist/src/main.js', 'node:fs:1:2', 'a.js:1:1 (b)']) {
    t.equal(withSourcePlaces(text), text);
  }
  t.end();
});
