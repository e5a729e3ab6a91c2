import t from 'tap';
import { homeOf, isLeftToEmbedded, opensEmbedded, storesOf, testFilesOf } from './select.ts';

t.test('a source, what was built of it, and a folder', (t) => {
  const built = 'dist/test/support/runner/select.test.js';
  t.strictSame(testFilesOf('test/support/runner/select.test.ts', '.test.js'), [built]);
  t.strictSame(testFilesOf(built, '.test.js'), [built]);
  const folder = testFilesOf('test/support/runner', '.test.js');
  t.ok(folder.includes(built));
  t.ok(folder.every((file) => file.endsWith('.test.js')));
  t.strictSame(testFilesOf('test/nothing', '.test.js'), [], 'nothing is there');
  t.end();
});

t.test('PostgreSQL first; both where they differ; all embedded without it', (t) => {
  const usual = 'dist/test/catalogue/routes/tags.test.js';
  const differs = 'dist/test/database/rows.test.js';
  t.strictSame([usual, differs].map(isLeftToEmbedded), [true, false]);
  t.notOk(isLeftToEmbedded('dist/test/packages/std/json.test.js'), 'it has no store');
  t.equal(storesOf(usual, 'usual', true), 'postgres');
  t.equal(storesOf(differs, 'usual', true), 'both');
  t.equal(storesOf(usual, 'both', true), 'both');
  t.equal(storesOf(usual, 'embedded', true), 'embedded');
  t.equal(storesOf(usual, 'usual', false), 'embedded');
  t.end();
});

t.test('the embedded store is made for files that open it', (t) => {
  const [store, opener] = ['test/support/store.js', 'test/cli/secret-key.test.js'];
  t.notOk(opensEmbedded(new Set([store, 'test/push/routes/events.test.js', 'test/none.js'])));
  t.ok(opensEmbedded(new Set([store, opener])));
  t.ok(opensEmbedded(new Set([store, 'test/support/console.js'])), 'by a file between');
  t.end();
});

t.test('what opens a browser has its home', (t) => {
  t.equal(homeOf(new Set(['test/support/browser.js'])), 'browser');
  t.equal(homeOf(new Set(['test/support/store.js'])), null);
  t.end();
});
