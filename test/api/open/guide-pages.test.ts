import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { apiViewerRoutes } from '../../../src/api/open/api-viewer.ts';
import { builtFiles } from '../../../src/api/open/built-files.ts';
import { guidePageRoutes } from '../../../src/api/open/guide-pages.ts';
import { startApi } from '../../support/api.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** The header with which Chromium asks for a page. */
const BROWSER = { Accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };
const NOBODY = { recall: () => 'missing' as const, authenticate: () => 'missing' as const };

/** Guides as a build leaves them, served beside the page of the API. */
async function serve(t: Test, files: Readonly<Record<string, string>>) {
  const directory = join(temporaryDirectory(t), 'guides');
  if (Object.keys(files).length > 0) mkdirSync(join(directory, 'assets'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const routes = [...guidePageRoutes(builtFiles(directory)), ...apiViewerRoutes()];
  const { baseUrl } = await startApi(t, NOBODY, routes);
  return (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${baseUrl}${path}`, { headers, redirect: 'manual' });
}

t.test('pages are asked for each time, what they load is kept', async (t) => {
  const get = await serve(t, {
    'index.html': '<title>Guides</title>',
    'quick-start.html': '<title>Quick start</title>',
    'not-found.html': '<title>There is no such page</title>',
    'assets/guides-1a2b.css': 'a { color: red }',
    'tagcast-client.tgz': 'a package',
  });
  const way = await get('/docs');
  t.equal(way.status, 308);
  t.equal(new URL(way.headers.get('location') ?? '', way.url).pathname, '/docs/');
  t.match(await (await get('/docs/')).text(), /Guides/);

  const page = await get('/docs/quick-start');
  t.equal(page.status, 200);
  t.match(await page.text(), /Quick start/);
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.equal(page.headers.get('cache-control'), 'no-cache');
  const policy = page.headers.get('content-security-policy') ?? '';
  t.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
  t.notMatch(policy, /unsafe|\*|https?:/, 'nothing of elsewhere, nothing inline');
  const known = { 'If-None-Match': page.headers.get('etag') ?? '' };
  t.equal((await get('/docs/quick-start', known)).status, 304);

  const client = await get('/docs/tagcast-client.tgz');
  t.equal(client.headers.get('content-type'), 'application/gzip');
  t.equal(await client.text(), 'a package');

  const style = await get('/docs/assets/guides-1a2b.css');
  t.equal(style.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  t.match(await (await get('/docs/api')).text(), /swagger-ui/, 'the page of the API is its own');
});

t.test('what is not there: a page that leads back, and a problem for files', async (t) => {
  const get = await serve(t, { 'not-found.html': '<title>There is no such page</title>' });
  for (const name of ['nobody', 'constructor', '..%2fpackage', 'assets', '%00']) {
    const missing = await get(`/docs/${name}`, BROWSER);
    t.equal(missing.status, 404, name);
    t.match(await missing.text(), /There is no such page/);
    const known = { ...BROWSER, 'If-None-Match': missing.headers.get('etag') ?? '' };
    t.equal((await get(`/docs/${name}`, known)).status, 404, 'also for who has it already');
    t.match(await (await get(`/docs/${name}`)).json(), { status: 404, detail: /no such guide/ });
  }
  const file = await get('/docs/assets/nobody.css');
  t.equal(file.status, 404);
  t.match(await file.json(), { detail: /Load the page again/ });
});

t.test('an engine without guides says so', async (t) => {
  const get = await serve(t, {});
  for (const path of ['/docs/', '/docs/quick-start']) {
    const missing = await get(path);
    t.equal(missing.status, 404);
    t.match(await missing.json(), { detail: /built without its guides. Run `npm run build`/ });
  }
});
