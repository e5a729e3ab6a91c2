/** Rendered trees are shared by those who ask at a time, and kept up to so many bytes. */

import t from 'tap';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { TagTrees } from '../../src/catalogue/tag-tree.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { makeTenant } from '../support/tenant.ts';

await onEachStore(t, {
  'once for each version, app and form, with the parameters of that version': async (
    t,
    { sql },
  ) => {
    const tenant = await makeTenant(sql, 'acme');
    const tag = await tenant.makeTag({ optionalParameters: { a: 'b' } });
    const catalogue = new Catalogue(sql);
    const trees = new TagTrees(sql);
    const render = async (form: 'post' | 'get' = 'post') => {
      const { clientId, appId } = tenant;
      const snapshot = await catalogue.fresh(clientId);
      return trees.render({ clientId, snapshot, appId, form, nowMs: Date.now() });
    };
    const [first, second] = await Promise.all([render(), render()]);
    t.equal(first, second);
    t.equal(await render(), first);
    t.not(await render('get'), first);
    t.match(first.body, '"tagOptionalParameters":{"a":"b"}');
    await sql`update tags set optional_parameters = ${'{"a":"c"}'}::text::jsonb where id = ${tag}`;
    await sql`update clients set catalogue_version = catalogue_version + 1`;
    t.match((await render()).body, '"tagOptionalParameters":{"a":"c"}');
  },

  'those rendered longest ago go, the last one stays however large': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    await tenant.makeTag({ optionalParameters: { text: 'x'.repeat(1_000) } });
    const snapshot = await new Catalogue(sql).fresh(tenant.clientId);
    const { clientId, appId } = tenant;
    const lengthOf = async (trees: TagTrees, form: 'post' | 'get') =>
      (await trees.render({ clientId, snapshot, appId, form, nowMs: Date.now() })).body.length;
    const both = new TagTrees(sql, 3_000);
    t.equal((await lengthOf(both, 'post')) + (await lengthOf(both, 'get')), both.bytes);
    const one = new TagTrees(sql, 1_500);
    await lengthOf(one, 'post');
    t.equal(await lengthOf(one, 'get'), one.bytes);
    const none = new TagTrees(sql, 10);
    await lengthOf(none, 'post');
    t.equal(await lengthOf(none, 'get'), none.bytes);
  },

  'a look that fails is not kept': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const snapshot = await new Catalogue(sql).fresh(tenant.clientId);
    const trees = new TagTrees(sql);
    const { clientId, appId } = tenant;
    const render = () =>
      trees.render({ clientId, snapshot, appId, form: 'post', nowMs: Date.now() });
    await sql`alter table tags rename to tags_gone`;
    await t.rejects(Promise.all([render(), render()]));
    await sql`alter table tags_gone rename to tags`;
    t.match((await render()).body, 'default');
  },
});
