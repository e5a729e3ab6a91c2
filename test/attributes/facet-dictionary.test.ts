/** The dictionary: one facet for a value on all nodes, and limits on what strangers can fill. */

import t from 'tap';
import type { WantedValue } from '../../src/attributes/facet-dictionary.ts';
import { FacetDictionary } from '../../src/attributes/facet-dictionary.ts';
import type { Attribute } from '../../src/domain/attributes.ts';
import { declareAttribute } from '../support/attributes.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { makeTenant } from '../support/tenant.ts';

const attribute = (id: number, type: Attribute['type']): Attribute => ({
  id,
  name: 'a',
  type,
  setBy: 'both',
  appIds: null,
  isPersonal: false,
});

const wantedOf =
  (clientId: number, of: Attribute) =>
  (value: string): WantedValue => ({ clientId, attribute: of, value, appId: 1 });

await onEachStore(t, {
  'two nodes give a value one facet, and never another one': async (t, { sql }) => {
    const { clientId } = await makeTenant(sql, 'acme');
    const other = await makeTenant(sql, 'other');
    const wanted = wantedOf(clientId, attribute(-1, 'language'));
    const [here, there] = [new FacetDictionary({ sql }), new FacetDictionary({ sql })];
    const values = Array.from({ length: 50 }, (_, at) => `x${at}`);
    const find = (dictionary: FacetDictionary) =>
      Promise.all(values.map((value) => dictionary.find(wanted(value), value)));
    const [one, two] = await Promise.all([find(here), find(there)]);
    t.same(one, two);
    t.equal(new Set(one).size, 50);
    t.equal(here.remembered(clientId, -1, 'x7'), one[7]);
    t.equal(here.remembered(other.clientId, -1, 'x7'), null);
    t.not(
      await here.find(wantedOf(other.clientId, attribute(-1, 'language'))('x7'), 'x7'),
      one[7],
      'of each client its own',
    );
    const [row] =
      await sql`select count(*)::int as tags from tags where id = any (${one as number[]})`;
    t.same(row, { tags: 0 });
  },

  'an attribute has room for so many, on all nodes together': async (t, { sql }) => {
    const { clientId } = await makeTenant(sql, 'acme');
    await sql`
      insert into attribute_values (client_id, attribute_id, value)
      select ${clientId}, -4, n::text from generate_series(1, 1998) as n`;
    const wanted = wantedOf(clientId, attribute(-4, 'version'));
    const why: string[] = [];
    const dictionaries = [1, 2, 3].map(
      () => new FacetDictionary({ sql, onNoRoom: (reason) => why.push(reason) }),
    );
    const found = await Promise.all(
      dictionaries.map((each, at) => each.find(wanted(`9.${at}`), `9.${at}`)),
    );
    t.equal(found.filter((facetId) => facetId === null).length, 1);
    t.same(why, ['full']);
    t.ok(await dictionaries[0]?.find(wanted('7'), '7'), 'what is there is found');
    const [row] = await sql`select count(*)::int as values from attribute_values`;
    t.same(row, { values: 2_000 });
  },

  'an app brings so many new values a minute; others, and known values, go on': async (
    t,
    { sql },
  ) => {
    const { clientId } = await makeTenant(sql, 'acme');
    const wanted = wantedOf(clientId, attribute(-1, 'language'));
    const why: string[] = [];
    const onNoRoom = (reason: string) => why.push(reason);
    const dictionary = new FacetDictionary({ sql, newValuesPerMinute: 2, onNoRoom });
    for (const value of ['a', 'b']) t.ok(await dictionary.find(wanted(value), value));
    t.equal(await dictionary.find(wanted('c'), 'c'), null);
    t.equal(await dictionary.find(wanted('c'), 'c'), null);
    t.same(why, ['rate'], 'not looked up again at once');
    t.ok(await dictionary.find(wanted('a'), 'A'), 'given in another form');
    t.ok(await dictionary.find({ ...wanted('c'), appId: 2 }, 'c'));
  },

  'a value of a deleted attribute is not made': async (t, { sql }) => {
    const { clientId } = await makeTenant(sql, 'acme');
    const id = await declareAttribute(sql, clientId, { name: 'plan', type: 'text' });
    const dictionary = new FacetDictionary({ sql });
    const wanted = wantedOf(clientId, attribute(id, 'text'));
    t.ok(await dictionary.find(wanted('gold'), 'gold'));
    await sql`delete from attributes`;
    t.equal(await dictionary.find(wanted('silver'), 'silver'), null);
  },

  'a value that was about to go is kept, and its time is exact to a day': async (t, { sql }) => {
    const { clientId } = await makeTenant(sql, 'acme');
    const wanted = wantedOf(clientId, attribute(-1, 'language'));
    const facetId = await new FacetDictionary({ sql }).find(wanted('de'), 'de');
    const row = async () => {
      const [value] = await sql`
        select id, last_set_at > now() - interval '1 hour' as "isNew", retired_at as retired from attribute_values`;
      return value;
    };
    await sql`update attribute_values set retired_at = now()`;
    t.equal(await new FacetDictionary({ sql }).find(wanted('de'), 'de'), facetId);
    t.same(await row(), { id: facetId, isNew: true, retired: null });
    await sql`update attribute_values set last_set_at = now() - interval '2 days'`;
    t.equal(await new FacetDictionary({ sql }).find(wanted('de'), 'de'), facetId);
    t.same(await row(), { id: facetId, isNew: true, retired: null });
  },

  'a client that is held keeps no other one waiting, nor itself for long': async (
    t,
    { sql, address },
  ) => {
    // A transaction has the embedded database for itself, and everybody waits.
    if (address.kind === 'embedded') return;
    const { clientId } = await makeTenant(sql, 'acme');
    const other = await makeTenant(sql, 'other');
    const [held, free] = [clientId, other.clientId].map((id) =>
      wantedOf(id, attribute(-1, 'language')),
    );
    if (held === undefined || free === undefined) return;
    const dictionary = new FacetDictionary({ sql });
    const known = await dictionary.find(held('de'), 'de');
    await sql.begin(async (tx) => {
      await tx`select from clients where id = ${clientId} for update`;
      let isAnswered = false;
      const made = dictionary.find(held('fr'), 'fr').finally(() => {
        isAnswered = true;
      });
      t.ok(await dictionary.find(free('fr'), 'fr'));
      t.equal(await dictionary.find(held('de'), 'DE'), known, 'what is there is found');
      t.notOk(isAnswered);
      t.equal(await made, 'later');
    });
    t.type(await dictionary.find(held('fr'), 'fr'), 'number');
  },

  'a value of a deleted attribute stays retired': async (t, { sql }) => {
    const { clientId } = await makeTenant(sql, 'acme');
    const id = await declareAttribute(sql, clientId, { name: 'plan', type: 'text' });
    const wanted = wantedOf(clientId, attribute(id, 'text'));
    await new FacetDictionary({ sql }).find(wanted('gold'), 'gold');
    await sql`delete from attributes`;
    await sql`update attribute_values set retired_at = now()`;
    t.equal(await new FacetDictionary({ sql }).find(wanted('gold'), 'gold'), null);
    const [row] = await sql`select retired_at is not null as retired from attribute_values`;
    t.same(row, { retired: true });
  },
});
