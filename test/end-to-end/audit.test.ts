/**
 * The audit log of a whole engine: every route that changes something leaves one entry, with the
 * actor and the change; a request without a change leaves none.
 */

import t from 'tap';
import type { Sql } from '../../src/database/sql.ts';
import { ask, makeAgent } from '../support/route-fuzz/ask.ts';
import { nameOf, validRequest } from '../support/route-fuzz/valid.ts';
import type { World } from '../support/route-fuzz/world.ts';
import { makeWorld } from '../support/route-fuzz/world.ts';
import { nextSlug, sharedService } from '../support/shared-service.ts';

interface Entry {
  readonly id: string;
  readonly actor: object;
  readonly action: string;
  readonly requestId: string;
}

/** Requests that change nothing. */
const CHANGES_NOTHING =
  /\/(preview|estimate|test|probe|lookup|explain)$|^POST \/push-api\/v3\/:client\/notifications\/:id\/resume$/;
/** The list of notifications has these. */
const SUBMITS = ['POST /push-api/push', 'POST /push-api/v3/:client/notifications'];
const RETRIES = 'POST /push-api/v3/:client/notifications/:id/retry';
const CORRECTS = /notifications\/:id\/(correct|retract)$/;

t.test('every route that changes something leaves an entry', async (t) => {
  const service = await sharedService();
  const { engine, store } = service;
  const agent = makeAgent(1);
  t.teardown(() => agent.destroy());

  const entriesOf = async ({ slug, superToken }: World): Promise<readonly Entry[]> => {
    const heard = await ask(agent, engine.url, {
      method: 'GET',
      segments: ['', 'push-admin-api', 'v3', slug, 'audit'],
      query: { limit: '1000' },
      headers: { authorization: `Bearer ${superToken}` },
      body: undefined,
    });
    t.equal(heard.status, 200);
    return JSON.parse(heard.text) as readonly Entry[];
  };

  const changing = engine.routes.filter(
    ({ method, api }) => method !== 'GET' && (api === 'admin' || api === 'notification'),
  );
  t.ok(changing.length > 30);
  for (const route of changing) {
    const name = nameOf(route);
    const world = await makeWorld(service, nextSlug());
    if (name === RETRIES) await letEnd(store.sql, world, 'failed');
    if (CORRECTS.test(name)) await letEnd(store.sql, world, 'reached');
    const before = await entriesOf(world);
    const request = validRequest(route, world, () => ({}));
    const heard = await ask(agent, engine.url, request);
    t.ok(heard.status < 400, `${name}: ${heard.status} ${heard.text.slice(0, 200)}`);
    const added = (await entriesOf(world)).slice(0, -before.length || undefined);
    if (CHANGES_NOTHING.test(name) || SUBMITS.includes(name)) {
      t.same(added, [], name);
      continue;
    }
    t.equal(added.length, 1, name);
    const [userName] = world.login.split(':');
    t.match(added[0], {
      actor: { kind: 'credential', name: userName },
      address: '127.0.0.1',
      requestId: heard.headers['x-request-id'],
    });
    const told = JSON.stringify(added);
    for (const secret of [...world.passwords, world.superToken, world.deviceId, 'PRIVATE KEY']) {
      t.notOk(told.includes(secret), `${name} tells no secret and no deviceId`);
    }
    await ask(agent, engine.url, request);
    if (/^(PATCH|DELETE)|\/(update|delete|pause|cancel|erase)\b/.test(name)) {
      const again = await entriesOf(world);
      t.equal(
        again.length,
        before.length + added.length,
        `${name} changes nothing the second time`,
      );
    }
  }
  const [left] = await store.sql<{ secrets: number }[]>`
    select count(*) as secrets from audit_entries where detail::text ~ 'tc[ask]_|BEGIN|abababab'`;
  t.same(left, { secrets: 0 });
});

/** The job ends, as if its only device had failed, or had it. */
async function letEnd(
  sql: Sql,
  { jobId, appId }: World,
  outcome: 'failed' | 'reached',
): Promise<void> {
  const [failed, reached] = outcome === 'failed' ? [1, 0] : [0, 1];
  await sql`
    update notifications set state = 'FINISHED', finished_at = now() where id = ${jobId}::uuid`;
  await sql`
    update notification_scopes
    set total = 1, failed = ${failed}, delivered = ${reached}, reached = ${reached}
    where notification_id = ${jobId}::uuid and app_id = ${appId} and platform_id = 3`;
}
