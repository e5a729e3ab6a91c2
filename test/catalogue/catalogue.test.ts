import t from 'tap';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { makeTenant } from '../support/tenant.ts';

await onEachStore(t, {
  'knows apps, platforms, tags and groups of a client, and nobody else': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const other = await makeTenant(sql, 'other');
    const foreign = await other.makeTag({ sourceId: 'foreign' });
    const group = await tenant.makeGroup('News', undefined, 'news');
    const tag = await tenant.makeTag({
      name: 'Tag',
      sourceId: 'tag',
      groupId: group,
      expiresAtMs: 9_999_999_999_999,
      appIds: [tenant.appId],
      optionalParameters: { visible: 'false' },
    });
    const snapshot = await new Catalogue(sql).recent(tenant.clientId);
    t.same(snapshot.apps.get(tenant.appId)?.platformIds, [3, 15]);
    t.equal(snapshot.hasPlatform(tenant.appId, 7), false);
    t.same(snapshot.tagsBySourceId.get('tag'), {
      id: tag,
      clientId: tenant.clientId,
      name: 'Tag',
      sourceId: 'tag',
      groupId: group,
      expiresAtMs: 9_999_999_999_999,
      appIds: [tenant.appId],
    });
    t.equal(snapshot.tagGroupsBySourceId.get('news')?.id, group);
    const resolved = snapshot.resolve({ ids: [tag, tag, foreign], sourceIds: ['tag', 'foreign'] });
    t.same(
      resolved.tags.map(({ id }) => id),
      [tag],
    );
    t.same(resolved.unknownIds, [foreign]);
    t.same(resolved.unknownSourceIds, ['foreign']);
    t.same(
      snapshot.appsOf(resolved.tags).map(({ id }) => id),
      [tenant.appId],
    );
  },

  'a fresh snapshot has what was committed before it was asked for': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const catalogue = new Catalogue(sql);
    await catalogue.recent(tenant.clientId);
    const stale = await catalogue.recent(tenant.clientId);
    for (let round = 0; round < 10; round += 1) {
      // Looks under way, begun before the tag is there, must not answer for it.
      const before = [catalogue.fresh(tenant.clientId), catalogue.fresh(tenant.clientId)];
      const tag = await tenant.makeTag();
      t.ok((await catalogue.fresh(tenant.clientId)).tags.has(tag));
      await Promise.all(before);
    }
    t.equal(stale.tags.size, 0, 'a snapshot does not change');
    const tag = await tenant.makeTag({ sourceId: 'new' });
    const knowing = await catalogue.knowing(tenant.clientId, { ids: [], sourceIds: ['new'] });
    t.equal(knowing.tagsBySourceId.get('new')?.id, tag);
  },

  'snapshots are kept up to so many bytes, the last one always': async (t, { sql }) => {
    const tenants: Awaited<ReturnType<typeof makeTenant>>[] = [];
    for (const slug of ['first', 'second', 'third']) {
      const tenant = await makeTenant(sql, slug);
      // With 300 bytes for the app.
      for (let n = 0; n < 10; n += 1) {
        await tenant.makeTag({ optionalParameters: { text: 'x'.repeat(255) } });
      }
      tenants.push(tenant);
    }
    const kept = (catalogue: Catalogue) =>
      tenants.map(({ clientId }) => catalogue.remembered(clientId) !== null);
    const two = new Catalogue(sql, 8_000);
    for (const { clientId } of tenants) await two.fresh(clientId);
    t.same(kept(two), [false, true, true]);
    const one = new Catalogue(sql, 1_000);
    for (const { clientId } of tenants) await one.fresh(clientId);
    t.same(kept(one), [false, false, true]);
    await tenants[2]?.makeTag();
    await one.fresh(tenants[2]?.clientId ?? 0);
    t.same(kept(one), [false, false, true], 'loaded again it is counted once');
  },

  'without a change the same snapshot is kept': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const catalogue = new Catalogue(sql);
    const first = await catalogue.fresh(tenant.clientId);
    t.equal(await catalogue.fresh(tenant.clientId), first);
    await tenant.makeTag();
    t.not(await catalogue.fresh(tenant.clientId), first);
  },

  'a look that fails is thrown at who waits, and the next one works': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const catalogue = new Catalogue(sql);
    await sql`alter table clients rename to clients_gone`;
    const looks = [1, 2, 3].map(() => catalogue.fresh(tenant.clientId));
    for (const look of looks) await t.rejects(look);
    await sql`alter table clients_gone rename to clients`;
    t.ok(await catalogue.fresh(tenant.clientId));
  },
});
