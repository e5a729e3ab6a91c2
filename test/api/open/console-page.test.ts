import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import t from 'tap';
import { builtFiles } from '../../../src/api/open/built-files.ts';
import { consolePageRoutes } from '../../../src/api/open/console-page.ts';
import { startApi } from '../../support/api.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const NOBODY = { recall: () => 'missing' as const, authenticate: () => 'missing' as const };
const PAGE = '<!doctype html><title>Console</title>';
const SCRIPT = 'export const answer = 42;'.repeat(100);

/** A small console as a build leaves it, served. */
async function serve(t: Test, isBuilt = true) {
  const directory = join(temporaryDirectory(t), 'console');
  if (isBuilt) build(directory);
  const { baseUrl } = await startApi(t, NOBODY, consolePageRoutes(builtFiles(directory)));
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${baseUrl}${path}`, { headers, redirect: 'manual' });
  return { directory, get };
}

function build(directory: string): void {
  mkdirSync(join(directory, 'assets'), { recursive: true });
  writeFileSync(join(directory, 'index.html'), PAGE);
  writeFileSync(join(directory, 'assets', 'index-1a2b.js'), SCRIPT);
  writeFileSync(join(directory, 'assets', 'index-1a2b.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(directory, 'assets', 'index-1a2b.js.gz'), gzipSync(SCRIPT));
  writeFileSync(join(directory, 'assets', 'type-3c4d.woff2'), 'octets');
}

t.test('the page: asked for each time, and safe', async (t) => {
  const { get } = await serve(t);
  const page = await get('/console/');
  t.equal(page.status, 200);
  t.equal(await page.text(), PAGE);
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.equal(page.headers.get('cache-control'), 'no-cache');
  t.equal(page.headers.get('x-content-type-options'), 'nosniff');
  t.equal(page.headers.get('referrer-policy'), 'no-referrer');
  const policy = page.headers.get('content-security-policy') ?? '';
  t.match(
    policy,
    /default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'/,
  );
  t.match(policy, /img-src 'self' data: https:;/, 'pictures of notifications');
  const others = policy.replace(/img-src [^;]*;/, '');
  t.notMatch(others, /unsafe|\*|https?:/, 'nothing else of elsewhere, nothing inline');
  const known = await get('/console/', { 'If-None-Match': page.headers.get('etag') ?? '' });
  t.equal(known.status, 304);

  const way = await get('/console');
  t.equal(way.status, 308);
  t.equal(new URL(way.headers.get('location') ?? '', way.url).pathname, '/console/');
});

t.test('a file is kept for ever, and comes as small as the browser takes it', async (t) => {
  const { get } = await serve(t);
  const etags = new Set<string | null>();
  for (const coding of ['br', 'gzip', 'identity']) {
    const file = await get('/console/assets/index-1a2b.js', { 'Accept-Encoding': coding });
    t.equal(file.status, 200);
    t.equal(file.headers.get('content-encoding'), coding === 'identity' ? null : coding);
    t.equal(file.headers.get('content-type'), 'text/javascript; charset=utf-8');
    t.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    t.equal(file.headers.get('vary'), 'Accept-Encoding');
    t.equal(await file.text(), SCRIPT);
    etags.add(file.headers.get('etag'));
  }
  t.equal(etags.size, 3, 'other bytes, another ETag');
  const font = await get('/console/assets/type-3c4d.woff2', { 'Accept-Encoding': 'br' });
  t.equal(font.headers.get('content-type'), 'font/woff2');
  t.equal(font.headers.get('content-encoding'), null, 'compressed by itself');
});

t.test('it has no other files', async (t) => {
  const { get } = await serve(t);
  for (const name of ['index.html', '..%2findex.html', 'index-1a2b.js.br', 'constructor', '%00']) {
    t.equal((await get(`/console/assets/${name}`)).status, 404, name);
  }
});

t.test('an engine without a console says so, until it is built', async (t) => {
  const { get, directory } = await serve(t, false);
  const missing = await get('/console/');
  t.equal(missing.status, 404);
  t.match(await missing.json(), { detail: /built without its console. Run `npm run build`/ });
  build(directory);
  t.equal((await get('/console/')).status, 200);
  rmSync(directory, { recursive: true });
  t.equal((await get('/console/')).status, 200, 'what was read is kept');
});
