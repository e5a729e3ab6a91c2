/** Attributes that files bring, on every store: taken, left out with a count, and never lost. */

import { readFileSync } from 'node:fs';
import t from 'tap';
import type { SqlPool } from '../../../src/database/sql.ts';
import { declareAttribute, valuesOf } from '../../support/attributes.ts';
import { deviceCommander } from '../../support/device-commander.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

const ONESIGNAL = [
  'identifier,device_type,tags,last_active,language,country,timezone,timezone_id,game_version,device_os',
  'one,1,"{""plan"":""gold"",""adult"":""1"",""tennis"":""1""}",1756800000,de,CH,3600,Europe/Kiev,5.2.0-rc1,14',
  'two,1,"{""plan"":""silver"",""adult"":""perhaps""}",1756800000,xx-nowhere-1,CH,3600,,5.2,14.0',
].join('\n');

const [LANGUAGE, TIMEZONE, COUNTRY, APP_VERSION, OS_VERSION] = [-1, -2, -3, -4, -5] as const;
const DAY_MS = 86_400_000;

/** A line of NDJSON. `daysAgo`: of its last registration. */
const lineOf = (deviceId: string, attributes: object, daysAgo?: number): string =>
  JSON.stringify({
    platformId: 15,
    deviceId,
    tags: ['tennis'],
    attributes,
    registeredAt: daysAgo === undefined ? null : Date.now() - daysAgo * DAY_MS,
  });

const versionsOf = (sql: SqlPool) => sql`select * from device_groups order by 1, 2, 3`;

await onEachStore(t, {
  'properties of OneSignal become attributes': async (t, store) => {
    const { sql } = store;
    const { appId, clientId, makeTag } = await makeTenant(sql, 'acme');
    const tennis = await makeTag({ sourceId: 'tennis' });
    const level = await declareAttribute(sql, clientId, { name: 'level', type: 'text' });
    const adult = await declareAttribute(sql, clientId, { name: 'adult', type: 'boolean' });
    const { context, write, run } = deviceCommander(t, store);
    const path = write('users.csv', ONESIGNAL);
    const line = `import ${appId} ${path} --format onesignal`;

    t.equal(await run(`${line} --attributes plna,level=plan`), 2, 'a name that is not declared');
    t.match(context.complaints.at(-1), /--attributes names plna, which .*declare it first/);
    t.equal(await run(`import ${appId} ${write('d.ndjson', '')} --attributes level`), 2);
    t.match(context.complaints.at(-1), /for --format onesignal and airship/);
    const [nothing] =
      await sql`select count(*)::int as n from audit_entries where action = 'device.import'`;
    t.same(nothing, { n: 0 }, 'nothing has begun');

    t.equal(await run(`${line} --attributes level=plan,adult --dry-run`), 0);
    t.match(
      context.printed.at(-1),
      / {2}2 devices with level\n(?:.*\n)* {2}1 value left out: timezone/,
    );
    t.equal(await run(`${line} --attributes level=plan,adult`), 0);
    const summary = context.printed.at(-1) ?? '';
    t.match(summary, / {2}1 value left out: timezone: seconds from UTC are no time zone/);
    t.match(summary, / {2}1 value left out: language has a value that is none of its type/);
    t.match(summary, / {2}1 value left out: adult has a value that is none of its type/);
    t.same(await valuesOf(sql, 'one'), {
      [LANGUAGE]: 'de',
      [TIMEZONE]: 'Europe/Kyiv',
      [COUNTRY]: 'CH',
      [APP_VERSION]: '5.2',
      [OS_VERSION]: '14',
      [level]: 'gold',
      [adult]: 'true',
    });
    t.same(await valuesOf(sql, 'two'), {
      [COUNTRY]: 'CH',
      [APP_VERSION]: '5.2',
      [OS_VERSION]: '14',
      [level]: 'silver',
    });
    const rows = await sql<{ tagIds: number[] }[]>`
      select tag_ids as "tagIds" from devices order by device_id`;
    t.same(
      [...rows].map(({ tagIds }) => tagIds),
      [[tennis], []],
      'they are no tags then',
    );

    const before = await versionsOf(sql);
    t.equal(await run(`${line} --attributes level=plan,adult`), 0);
    t.same([...(await versionsOf(sql))], [...before], 'the same again changes nothing');
  },

  'the later registration wins; what the app does meanwhile stays': async (t, store) => {
    const { sql } = store;
    const { appId, clientId } = await makeTenant(sql, 'acme');
    const score = await declareAttribute(sql, clientId, { name: 'score', type: 'integer' });
    const { write, run } = deviceCommander(t, store);
    const lines = (...all: string[]) => write(`devices${Math.random()}.ndjson`, all.join('\n'));
    const first = lines(
      lineOf('later', { language: 'de', score: 3 }, 9),
      lineOf('earlier', { language: 'de', score: 3 }, 9),
      lineOf('unknown', { language: 'de' }, 9),
      lineOf('gone', { language: 'de' }, 9),
    );
    t.equal(await run(`import ${appId} ${first}`), 0);
    await sql`update devices set unsubscribed_at = now() + interval '1 hour' where device_id = 'gone'`;
    const second = lines(
      lineOf('later', { language: 'fr', country: 'CH', score: -7 }, 5),
      lineOf('earlier', { language: 'fr', country: 'CH', score: -7 }, 20),
      lineOf('unknown', { language: 'fr', country: 'CH', score: '8' }),
      lineOf('gone', { language: 'fr', country: 'CH', score: 8 }, 5),
    );
    for (let times = 0; times < 2; times += 1) {
      t.equal(await run(`import ${appId} ${second}`), 0);
      t.same(await valuesOf(sql, 'later'), { [LANGUAGE]: 'fr', [COUNTRY]: 'CH', [score]: '-7' });
      t.same(await valuesOf(sql, 'earlier'), { [LANGUAGE]: 'de', [COUNTRY]: 'CH', [score]: '3' });
      t.same(await valuesOf(sql, 'unknown'), { [LANGUAGE]: 'de', [COUNTRY]: 'CH', [score]: '8' });
      t.same(await valuesOf(sql, 'gone'), { [LANGUAGE]: 'de' });
    }
  },

  'names that are not declared are counted; exported is what was imported': async (t, store) => {
    const { sql } = store;
    const acme = await makeTenant(sql, 'acme');
    const other = await makeTenant(sql, 'other');
    await makeTenant(sql, 'third').then(({ clientId }) =>
      declareAttribute(sql, clientId, { name: 'secret', type: 'text' }),
    );
    for (const { clientId } of [acme, other]) {
      await declareAttribute(sql, clientId, {
        ...{ name: 'adult', type: 'boolean', isPersonal: true, setBy: 'app' },
      });
    }
    const { context, write, pathOf, run } = deviceCommander(t, store);
    const path = write(
      'devices.ndjson',
      [
        lineOf('one', { language: 'de', secret: 'x', adult: false, country: '' }),
        lineOf('two', { secret: 'y', language: null }),
        lineOf('bad', { language: ['de'] }),
        '{"platformId":15,"deviceId":"worse","attributes":"language=de"}',
      ].join('\n'),
    );
    t.equal(await run(`import ${acme.appId} ${path}`), 1);
    t.match(context.printed.at(-1), / {2}2 values left out: secret is no attribute that devices/);
    t.match(context.printed.at(-1), / {2}2 bad records/);
    t.match(context.complaints, [/Line 3 attributes must have texts/, /Line 4 attributes must be/]);
    t.equal(await run(`import ${acme.appId} ${path} --json`), 1);
    t.match(JSON.parse(context.printed.at(-1) ?? ''), {
      attributesLeftOut: {
        'secret is no attribute that devices of the app can have (tagcast attribute add)': 2,
      },
    });
    for (const format of ['csv', 'ndjson']) {
      const file = pathOf(`out.${format}`);
      t.equal(await run(`export ${acme.appId} --format ${format} --output ${file}`), 0);
      t.match(readFileSync(file, 'utf8'), /language.*de.*adult.*false/, 'personal ones, too');
      await sql`delete from devices where app_id = ${other.appId}`;
      t.equal(await run(`import ${other.appId} ${file}`), 0);
      const [row] = await sql`
        select array_agg(v.value order by v.value) as values from devices d, unnest(d.facet_ids) as f (id)
        join attribute_values v on v.id = f.id and v.client_id = ${other.clientId}
        where d.app_id = ${other.appId}`;
      t.same(row, { values: ['de', 'false'] }, format);
    }
    await sql`delete from devices where app_id = ${other.appId}`;
    t.equal(
      await run(`import ${other.appId} ${pathOf('out.csv')} --without-attributes language`),
      0,
    );
    t.match(context.printed.at(-1), / {2}1 value left out by --without-attributes/);
  },

  'killed in the middle and repeated: the same, each value once': async (t, store) => {
    const { sql } = store;
    const { appId } = await makeTenant(sql, 'acme');
    let batches = 0;
    const { context, write, run } = deviceCommander(t, store, {}, (ask) => async (url, init) => {
      const answer = await ask(url, init);
      const isBatch = String(url).endsWith('/devices') && init?.method === 'POST';
      // It was committed, and the command does not learn it.
      if (isBatch) batches += 1;
      if (isBatch && batches === 2) throw new Error('killed');
      return answer;
    });
    const lines = Array.from({ length: 2_500 }, (_, n) =>
      lineOf(`d${n}`, { language: n % 2 === 0 ? 'de' : 'fr', nobody: 'x' }, 3),
    );
    const path = write('devices.ndjson', lines.join('\n'));
    await t.rejects(run(`import ${appId} ${path}`), /killed/);
    t.equal(await run(`import ${appId} ${path}`), 0);
    t.match(context.printed.at(-1), / {2}2,500 values left out: nobody/, 'over both runs');
    const counts = await sql`
      select v.value, count(*)::int as devices from devices d, unnest(d.facet_ids) as f (id)
      join attribute_values v on v.id = f.id group by 1 order by 1`;
    t.same(
      [...counts],
      [
        { value: 'de', devices: 1_250 },
        { value: 'fr', devices: 1_250 },
      ],
    );
  },
});
