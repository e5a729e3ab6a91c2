import t from 'tap';
import { aboutRoute } from '../../../src/http/open/about.ts';
import { startApiOn } from '../../support/api.ts';
import { withStores } from '../../support/store.ts';

t.test('the root says what this is: text, or JSON for who asks for it', async (t) => {
  await withStores(t, async (t, store) => {
    const { baseUrl } = await startApiOn(t, store, [aboutRoute]);
    const get = (accept: string, method = 'GET') =>
      fetch(`${baseUrl}/`, { method, headers: { Accept: accept } });

    for (const accept of ['*/*', 'text/html,application/xhtml+xml,*/*;q=0.8']) {
      const text = await get(accept);
      t.equal(text.status, 200);
      t.match(text.headers.get('content-type'), /^text\/plain/);
      t.match(
        await text.text(),
        /^Tagcast: .*\/push-api\/.*\/livez.*\/docs\/api, \/openapi\.json/s,
      );
    }
    const json = await get('application/json');
    t.equal(json.status, 200);
    t.match(json.headers.get('content-type'), /^application\/json/);
    t.match(await json.json(), { name: 'tagcast', apps: '/push-api', alive: '/livez' });

    const head = await get('*/*', 'HEAD');
    t.equal(head.status, 200);
    t.equal(await head.text(), '');
    t.equal((await get('*/*', 'POST')).status, 405);
  });
});
