import t from 'tap';
import { testFilesFor } from './changed.ts';

t.test('a source means the tests that import it, directly or not', (t) => {
  const files = testFilesFor(['src/std/backoff.ts']);
  t.ok(files.has('dist/test/std/backoff.test.js'));
  t.ok(files.has('dist/test/tag-index/redis/redis-breaker.test.js') || files.size > 10);
  t.notOk(files.has('dist/test/std/json-position.test.js'), 'it does not need it');
  t.ok(files.has('dist/test/tidy.test.js'), 'the rules for sources are for every source');
  t.end();
});

t.test('a test means itself; documents and the console those that read them', (t) => {
  t.ok(testFilesFor(['test/packages/std/json.test.ts']).has('dist/test/packages/std/json.test.js'));
  t.ok(testFilesFor(['docs/reference/limits.md']).has('dist/test/documents/limits.test.js'));
  t.ok(testFilesFor(['console/src/app.svelte']).has('dist/test/console/send.test.js'));
  t.strictSame([...testFilesFor([])], []);
  t.end();
});
