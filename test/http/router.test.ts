/** Method and path to route. */

import t from 'tap';
import { Router } from '../../src/http/router.ts';

const route = (method: string, path: string, api = 'app') => ({ method, path, api });
const reg = route('POST', '/push-api/reg');
const tags = route('GET', '/push-api/v3/:client/tags/:app');
const add = route('POST', '/push-api/v3/:client/tags/:app');
const live = route('GET', '/livez', 'open');
const router = new Router([reg, tags, add, live]);

t.test('literal paths and patterns, by method', (t) => {
  t.same(router.match('POST', '/push-api/reg'), { kind: 'found', route: reg, params: {} });
  const params = { client: 'demo', app: '12' };
  t.same(router.match('GET', '/push-api/v3/demo/tags/12'), { kind: 'found', route: tags, params });
  t.same(router.match('POST', '/push-api/v3/demo/tags/12'), { kind: 'found', route: add, params });
  t.end();
});

t.test('a parameter is one whole segment, decoded after the path is split', (t) => {
  const found = router.match('GET', '/push-api/v3/a%2Fb%20%C3%BC/tags/%25');
  t.same(found, { kind: 'found', route: tags, params: { client: 'a/b ü', app: '%' } });
  for (const bad of ['%', '%2', '%zz', '%ff', '%C3', 'a%']) {
    t.same(router.match('GET', `/push-api/v3/demo/tags/${bad}`), { kind: 'bad-encoding' }, bad);
  }
  t.end();
});

t.test('what is not there', (t) => {
  const missing = [
    '/',
    '',
    '/push-api',
    '/push-api/Reg',
    '/push-api/v3//tags/1',
    '/push-api/v3/demo/tags/',
    '/push-api/v3/demo/tags/1/2',
    '/__proto__',
  ];
  for (const path of missing) t.same(router.match('POST', path), { kind: 'not-found' }, path);
  t.end();
});

t.test('another method says which there are; what answers GET answers HEAD', (t) => {
  const allow = (method: string, path: string) => router.match(method, path);
  t.same(allow('GET', '/push-api/reg'), { kind: 'method-not-allowed', allow: ['POST'] });
  t.match(allow('HEAD', '/push-api/v3/a/tags/b'), {
    kind: 'found',
    route: { method: 'GET' },
    params: { client: 'a' },
  });
  t.same(allow('PUT', '/push-api/v3/a/tags/b'), {
    kind: 'method-not-allowed',
    allow: ['GET', 'HEAD', 'POST'],
  });
  t.match(allow('HEAD', '/livez'), { kind: 'found', route: live });
  t.same(allow('POST', '/livez'), { kind: 'method-not-allowed', allow: ['GET', 'HEAD'] });
  t.throws(() => new Router([reg, reg]), /twice/);
  t.end();
});

t.test('slashes too many: answered on the App API, named elsewhere', (t) => {
  const found = { kind: 'found', route: reg, params: {} };
  for (const path of ['//push-api/reg', '/push-api/reg/', '/push-api//reg']) {
    t.same(router.match('POST', path), found, path);
  }
  t.same(router.match('GET', '//livez'), { kind: 'not-found', meant: '/livez' });
  t.same(router.match('GET', '/livez/'), { kind: 'not-found', meant: '/livez' });
  t.same(router.match('GET', '//nothing'), { kind: 'not-found' });
  t.end();
});
