/**
 * Answers of a whole engine to signed-in people, on every route: nothing for a page from elsewhere,
 * and no e-mail address of another client's people.
 */

import t from 'tap';
import { ask, makeAgent } from '../support/route-fuzz/ask.ts';
import { nameOf, validRequest } from '../support/route-fuzz/valid.ts';
import type { World } from '../support/route-fuzz/world.ts';
import { makeWorld } from '../support/route-fuzz/world.ts';
import { nextSlug, sharedService } from '../support/shared-service.ts';

const ADDRESS = /\b(?:owner|member)@[a-z]+\.example\b/g;
const FORBIDDEN = 403;

t.test('no request with a session gets CORS headers, under whatever prefix', async (t) => {
  const service = await sharedService();
  const { engine } = service;
  const agent = makeAgent(1);
  t.teardown(() => agent.destroy());
  const world = await makeWorld(service, nextSlug());
  const { cookie = '' } = world.account.headers;
  const origin = 'https://elsewhere.example';
  const behind = engine.routes.filter(({ api }) => api !== 'open' && api !== 'operator');
  t.strictSame(new Set(behind.map(({ api }) => api)).size, 4, 'App, Notification, Admin, console');
  for (const route of behind) {
    const heard = await ask(agent, engine.url, {
      ...validRequest(route, world, () => ({})),
      headers: { cookie, origin, 'sec-fetch-site': 'cross-site', 'tagcast-client': world.slug },
    });
    t.equal(heard.status, FORBIDDEN, nameOf(route));
    t.strictSame(
      Object.keys(heard.headers).filter((name) => name.startsWith('access-control-')),
      [],
      nameOf(route),
    );
  }
});

t.test('an e-mail address is shown to no other client', async (t) => {
  const service = await sharedService();
  const { engine } = service;
  const agent = makeAgent(1);
  t.teardown(() => agent.destroy());
  const ours = await makeWorld(service, 'ours');
  const others = await makeWorld(service, 'others');
  const path = (world: World, rest: string) => ['', 'push-api', 'v3', world.slug, rest];
  // Its people have sent and changed something, so that lists and the audit log show them.
  for (const world of [ours, others]) {
    const { headers } = world.account;
    const made = { tagIds: [world.tagId], payload: { title: 'Goal' } };
    const request = { method: 'POST', query: {}, headers } as const;
    const sent = await ask(agent, engine.url, {
      ...request,
      segments: path(world, 'notifications'),
      body: made,
    });
    const invited = await ask(agent, engine.url, {
      ...request,
      segments: ['', 'console', 'api', 'members'],
      body: { role: 'viewer' },
    });
    t.same([sent.status, invited.status], [202, 201], sent.text);
  }

  // The operator's routes are for whose token it is: test/end-to-end/access.test.ts.
  const reading = engine.routes.filter(
    ({ method, api }) => method === 'GET' && api !== 'app' && api !== 'operator',
  );
  const telling: string[] = [];
  for (const route of reading) {
    const name = nameOf(route);
    // Asks like its page: by the session of a member.
    const bySession =
      route.api === 'open'
        ? validRequest(route, ours, () => ({}))
        : { ...validRequest(route, ours, () => ({})), headers: ours.account.headers };
    const { text } = await ask(agent, engine.url, bySession);
    const addresses = text.match(ADDRESS) ?? [];
    if (addresses.length > 0) telling.push(name);
    t.notOk(
      addresses.some((address) => address.endsWith('@others.example')),
      `${name} tells of nobody else`,
    );
    if (!route.path.includes(':client')) continue;
    const foreign = await ask(agent, engine.url, {
      ...validRequest(route, others, () => ({})),
      headers: ours.account.headers,
    });
    t.equal(foreign.status, FORBIDDEN, `${name} of another client`);
    t.notMatch(foreign.text, ADDRESS, name);
  }
  t.strictSame(
    telling.sort(),
    [
      'GET /console/api/audit',
      'GET /console/api/members',
      'GET /console/api/session',
      'GET /push-admin-api/history/get/:client',
      'GET /push-admin-api/v3/:client/audit',
      'GET /push-api/v3/:client/notifications',
    ],
    'these tell of our own people',
  );
});
