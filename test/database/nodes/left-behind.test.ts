/**
 * A migration after which nodes at work could not go on: it is refused beside them; and where it is
 * made all the same, they say that they are not ready.
 */

import t from 'tap';
import type { Migration } from '../../../src/database/migrate.ts';
import { MIGRATIONS, migrate } from '../../../src/database/migrate.ts';
import { joinNodes } from '../../../src/database/nodes/beats.ts';
import { openPostgres } from '../../../src/database/store.ts';
import { untilReady } from '../../support/client.ts';
import { until } from '../../support/poll.ts';
import { startEngine } from '../../support/processes.ts';
import { withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ADDING: Migration = {
  name: '9001-adding',
  sql: 'alter table clients add column colour text',
};
const TAKING_AWAY: Migration = {
  name: '9002-taking-away',
  needs: ADDING.name,
  sql: 'alter table clients drop column settings',
};
const LATER = { migrations: [...MIGRATIONS, ADDING, TAKING_AWAY] };
const APPLIED = { applied: [ADDING.name, TAKING_AWAY.name], ahead: [], isNew: false };

t.test('an engine at work is named; migrated all the same, it is not ready', async (t) => {
  await withPostgres(t, async (t, url) => {
    const engine = await startEngine(t, temporaryDirectory(t), {
      DATABASE_URL: url,
      SECRET_KEY: 'a secret for tests only, long enough',
    });
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    const ready = () => fetch(`${engine.baseUrl}/readyz`);

    const sentence = new RegExp(
      `^DATABASE_URL: .+process ${engine.child.pid} on .+need 9001-adding.+MIGRATE_BESIDE_OLD_NODES=1`,
    );
    await t.rejects(migrate(store.sql, LATER), { name: 'SettingFault', message: sentence });
    // Nothing was changed.
    await untilReady(engine.baseUrl);

    t.same(await migrate(store.sql, { ...LATER, besideOldNodes: true }), APPLIED);
    const answer = await until('it is noticed', async () => {
      const asked = await ready();
      const body = await asked.text();
      return body.includes('too new') ? { status: asked.status, body: JSON.parse(body) } : null;
    });
    const body = { status: 'unavailable', stores: { postgres: 'too new' } };
    t.same(answer, { status: 503, body });
    const reason = /"reason":"DATABASE_URL: a later version .+9001-adding/;
    await until('the log says why', () => (reason.test(engine.output()) ? true : null));
  });
});

t.test('only nodes at work that know too little are in the way', async (t) => {
  await withPostgres(t, async (t, url) => {
    const { sql, close } = await openPostgres(url);
    t.teardown(close);
    const old = await joinNodes(sql, 'host-a', 1);
    const known = await joinNodes(sql, 'host-b', 2);
    await sql`update nodes set newest_migration = ${ADDING.name} where id = ${known}`;
    await t.rejects(migrate(sql, LATER), /\(process 1 on host-a\)/);
    await sql`update nodes set newest_migration = null where id = ${old}`;
    await t.rejects(migrate(sql, LATER), /\(process 1 on host-a\)/, 'older than the record');

    const added = { applied: [ADDING.name], ahead: [], isNew: false };
    t.same(
      await migrate(sql, { migrations: [...MIGRATIONS, ADDING] }),
      added,
      'it may be added to',
    );
    await sql`update nodes set seen_at = now() - interval '11 seconds' where id = ${old}`;
    t.same(await migrate(sql, LATER), { ...APPLIED, applied: [TAKING_AWAY.name] }, 'it is silent');
  });
});
