import t from 'tap';
import { aboutRoute } from '../../../src/api/open/about.ts';
import { startApiOn } from '../../support/api.ts';
import { withStores } from '../../support/store.ts';

t.test(
  'the root says what this is: text, JSON for who asks for it, the console for browsers',
  async (t) => {
    await withStores(t, async (t, store) => {
      const { baseUrl } = await startApiOn(t, store, [aboutRoute]);
      const get = (accept: string, method = 'GET') =>
        fetch(`${baseUrl}/`, { method, redirect: 'manual', headers: { Accept: accept } });

      const text = await get('*/*');
      t.equal(text.status, 200);
      t.match(text.headers.get('content-type'), /^text\/plain/);
      t.match(
        await text.text(),
        /^Tagcast: .*\/docs\/\n.*\/push-api\/.*\/console\/.*\/livez.*\/docs\/api, \/openapi\.json/s,
      );

      const page = await get('text/html,application/xhtml+xml,*/*;q=0.8');
      t.equal(page.status, 303, 'a browser is led to the console');
      t.equal(new URL(page.headers.get('location') ?? '', page.url).pathname, '/console/');
      t.equal(page.headers.get('vary'), 'Accept');
      const json = await get('application/json');
      t.equal(json.status, 200);
      t.match(json.headers.get('content-type'), /^application\/json/);
      t.match(await json.json(), { name: 'tagcast', apps: '/push-api', alive: '/livez' });

      const head = await get('*/*', 'HEAD');
      t.equal(head.status, 200);
      t.equal(await head.text(), '');
      t.equal((await get('*/*', 'POST')).status, 405);
    });
  },
);
