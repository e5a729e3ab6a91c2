import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import t from 'tap';
import { apiViewerRoutes, VIEWER_FILES } from '../../../src/api/open/api-viewer.ts';
import { withDocument } from '../../../src/api/openapi/routes.ts';
import { startApi } from '../../support/api.ts';
import { makeRequest } from '../../support/app-api.ts';

const NOBODY = { recall: () => 'missing' as const, authenticate: () => 'missing' as const };
const FOREIGN = /\b(?:https?:)?\/\/[a-z]/i;

t.test('the page loads files of this engine only, and runs no script of its own', async (t) => {
  const { baseUrl } = await startApi(t, NOBODY, withDocument(apiViewerRoutes()));
  const page = await fetch(`${baseUrl}/docs/api`);
  t.equal(page.status, 200);
  t.match(page.headers.get('content-type'), /^text\/html/);
  const policy = page.headers.get('content-security-policy') ?? '';
  t.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'; .*connect-src 'self'/);
  t.notMatch(policy, /unsafe|\*|https?:/, 'nothing of elsewhere, nothing inline');
  const html = await page.text();
  t.notMatch(html, FOREIGN);
  t.notMatch(html, /<script>|<style|\son\w+=/, 'nothing inline');

  const loaded = [...html.matchAll(/(?:src|href)="(api[^"]+)"/g)].map(([, target = '']) => target);
  t.same(
    loaded.map((target) => target.replace('api/', '')).sort(),
    [...VIEWER_FILES].sort(),
    'it loads each of its files',
  );
  for (const target of loaded) {
    const file = await fetch(new URL(target, page.url));
    t.equal(file.status, 200, target);
    t.match(file.headers.get('content-type'), /^text\/(css|javascript)/);
    t.equal(file.headers.get('content-encoding'), 'gzip');
    t.ok((await file.arrayBuffer()).byteLength > 0);
  }
  const script = await (await fetch(`${baseUrl}/docs/api/viewer.js`)).text();
  t.notMatch(script, FOREIGN);
  t.match(script, /validatorUrl: null/, 'it does not send the document to its makers');
  const [, url = ''] = /url: '([^']+)'/.exec(script) ?? [];
  const document = await fetch(new URL(url, page.url));
  t.match(await document.json(), { openapi: /^3\.1/ }, 'it shows this document');
});

t.test('a file comes as its package has it, and once', async (t) => {
  const { baseUrl } = await startApi(t, NOBODY, apiViewerRoutes());
  const url = `${baseUrl}/docs/api/swagger-ui.css`;
  const path = createRequire(import.meta.url).resolve('swagger-ui-dist/swagger-ui.css');
  const digestOf = (octets: Uint8Array) => createHash('sha256').update(octets).digest('hex');
  const etags: string[] = [];
  for (const coding of ['gzip', 'identity']) {
    const file = await fetch(url, { headers: { 'Accept-Encoding': coding } });
    t.equal(file.headers.get('content-encoding'), coding === 'gzip' ? 'gzip' : null);
    const octets = new Uint8Array(await file.arrayBuffer());
    t.equal(digestOf(octets), digestOf(readFileSync(path)));
    const etag = file.headers.get('etag') ?? '';
    const headers = { 'Accept-Encoding': coding, 'If-None-Match': etag };
    t.equal((await fetch(url, { headers })).status, 304);
    etags.push(etag);
  }
  t.equal(new Set(etags).size, 2, 'other bytes, another ETag');
});

t.test('a file is read once, in whichever coding it is asked for', async (t) => {
  const route = apiViewerRoutes().find(({ path }) => path.endsWith(':file'));
  const ask = async (coding: string) =>
    await route?.handle(
      makeRequest({
        params: { file: 'swagger-ui.css' },
        header: (name) => (name === 'accept-encoding' ? coding : ''),
      }),
    );
  for (const coding of ['gzip', 'identity']) {
    const [first, second] = [await ask(coding), await ask(coding)];
    t.equal(first?.status, 200);
    t.ok(first?.body === second?.body, `${coding}: the same octets, not others that are equal`);
  }
});

t.test('it has no other files', async (t) => {
  const { baseUrl } = await startApi(t, NOBODY, apiViewerRoutes());
  for (const name of ['index.html', 'package.json', '..%2fpackage.json', 'constructor']) {
    t.equal((await fetch(`${baseUrl}/docs/api/${name}`)).status, 404, name);
  }
});
