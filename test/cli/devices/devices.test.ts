/**
 * Export and import by command, on every store; with real processes in
 * test/end-to-end/devices.test.ts.
 */

import { EventEmitter } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { devicesCommand } from '../../../src/cli/devices/devices.ts';
import { CREATED_TAGS_MAX } from '../../../src/cli/devices/import-tag-map.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import { DEVICES_PER_REQUEST_MAX } from '../../../src/devices/import/request-limits.ts';
import { problem } from '../../../src/http/problem.ts';
import { makeAppApi } from '../../support/app-api.ts';
import { deviceCommander as commander } from '../../support/device-commander.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';
import { subscriptions } from '../../support/subscriptions.ts';
import { makeTenant } from '../../support/tenant.ts';
import { recordedContext } from '../../support/terminal.ts';

type Asked = Parameters<typeof fetch>;

/** Whether it asks for a page of an export, or for a batch of an import. */
const isTransfer = (url: Asked[0]): boolean =>
  String(url).split('?')[0]?.endsWith('/devices') ?? false;
const isImport = (url: Asked[0], init: Asked[1]): boolean =>
  isTransfer(url) && init?.method === 'POST';

/** Every device with its tags, as text. */
async function devicesOf(sql: SqlPool, appId: number): Promise<readonly string[]> {
  const rows = await sql<{ text: string; tags: readonly string[] }[]>`
    select platform_id || ' ' || device_id || ' ' || coalesce(app_version, '-') || ' '
      || to_char(registered_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS') || ' ' as text,
      array(
        select coalesce(t.source_id, t.name) from ${subscriptions(sql)} join tags t on t.id = s.tag_id
        where s.app_id = d.app_id and s.platform_id = d.platform_id and s.ordinal = d.ordinal
          and t.deleted_at is null
      ) as tags
    from devices d where app_id = ${appId}`;
  return rows.map(({ text, tags }) => text + [...tags].sort().join(',')).sort();
}

const versionsOf = (sql: SqlPool, appId: number) =>
  sql`select * from device_groups where app_id = ${appId} order by 1, 2, 3`.then((rows) => [
    ...rows,
  ]);

await onEachStore(t, {
  'what is exported is imported elsewhere, in both formats': async (t, store) => {
    const { sql } = store;
    const acme = await makeTenant(sql, 'acme');
    const other = await makeTenant(sql, 'other');
    const sports = await acme.makeTag({ sourceId: 'sports', name: 'Sports, "all"' });
    const plain = await acme.makeTag({ name: 'Plain' });
    const deleted = await acme.makeTag({ sourceId: 'deleted' });
    await seedDevices(sql, { appId: acme.appId, platformId: 3, tagIds: [sports], count: 2_500 });
    await seedDevices(sql, {
      appId: acme.appId,
      platformId: 15,
      tagIds: [sports, plain, deleted],
      count: 3,
      deviceIds: ['one', 'two', 'three'],
    });
    for (const [deviceId, version] of [
      ['one', 'quote" comma, \r\nnewline'],
      ['two', ' edge '],
      ['three', 'ünï\u2028'],
    ] as const)
      await sql`update devices set app_version = ${version} where device_id = ${deviceId}`;
    await sql`
      update devices set unsubscribed_at = '2026-02-02Z', refusals = 2, refused_at = '2026-02-03Z',
        apns_environment = 'sandbox'
      where device_id = 'one'`;
    await acme.deleteTag(deleted);
    const { context, pathOf, run } = commander(t, store);
    for (const format of ['csv', 'ndjson']) {
      const path = pathOf(`devices.${format}`);
      t.equal(await run(`export ${acme.appId} --format ${format} --output ${path}`), 0);
      t.equal(context.notes.at(-1), `2,503 devices of app ${acme.appId}.`);
      const written = readFileSync(path, 'utf8');
      for (const fact of ['2026-02-02T00:00:00.000Z', '2026-02-03T00:00:00.000Z', 'sandbox'])
        t.equal(written.split(fact).length, 2, `${format} has ${fact}, once`);
      t.equal(await run(`import ${other.appId} ${path} --create-tags`), 0);
      t.match(context.printed.at(-1), /^2,503 records.*\n {2}2,503 (added|existed already)/);
    }
    const imported = await devicesOf(sql, other.appId);
    const expected = (await devicesOf(sql, acme.appId)).map((text) =>
      text.replace(/Plain,sports$/, `imported-${plain},sports`),
    );
    t.same(imported, expected);
    const [named] = await sql`select name from tags where source_id = ${`imported-${plain}`}`;
    t.equal(named?.['name'], 'Plain');

    const versions = await versionsOf(sql, other.appId);
    t.equal(await run(`import ${other.appId} ${pathOf('devices.csv')}`), 0);
    t.same(await versionsOf(sql, other.appId), versions, 'the same again changes nothing');
    t.same(await devicesOf(sql, other.appId), imported);
    const [days] = await sql`
      select sum(subscribed) as gained, sum(unsubscribed) as lost from tag_days d join tags t on t.id = d.tag_id
      where t.client_id = ${other.clientId}`;
    t.match(days, { gained: String(2_503 + 3), lost: '0' });

    t.equal(await run(`export ${acme.appId}`), 0);
    t.equal(context.data(), readFileSync(pathOf('devices.ndjson'), 'utf8'), 'standard output');
    t.equal(context.openSessions(), 0);
  },

  'tags: unknown ones are named once and left out; ids count only with their names': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const acme = await makeTenant(sql, 'acme');
    const other = await makeTenant(sql, 'other');
    const tennis = await acme.makeTag({ sourceId: 'tennis', name: 'Tennis' });
    const golf = await acme.makeTag({ name: 'Golf' });
    await acme.makeTag({ sourceId: 'expired', expiresAtMs: 1 });
    await acme.makeTag({ sourceId: 'elsewhere', appIds: [await acme.makeApp()] });
    const foreign = await other.makeTag({ sourceId: 'foreign' });
    const { context, write, run } = commander(t, store);
    const lines = [
      ['tennis', { sourceId: 'nobody', id: tennis }, 'expired', 'elsewhere', 'foreign'],
      [{ id: golf, name: 'Golf' }, { id: tennis, name: 'Chess' }, foreign, 'nobody'],
      [tennis],
      [],
    ].map((tags, n) => JSON.stringify({ platformId: 15, deviceId: `d${n}`, tags }));
    const path = write('devices.ndjson', lines.join('\n'));
    t.equal(await run(`import ${acme.appId} ${path}`), 0);
    t.same(context.complaints, [
      'Tag expired is expired: left out.',
      'Tag elsewhere is not connected to this app: left out.',
      'Tag nobody is unknown: left out.',
      'Tag foreign is unknown: left out.',
      `Tag ${tennis} (Chess) is unknown: left out.`,
      `Tag ${foreign} is unknown: left out.`,
    ]);
    t.match(context.printed.at(-1), /\n {2}4 added\n {2}7 subscriptions left out/);
    const tagsOf = async () =>
      (await devicesOf(sql, acme.appId)).map((text) => text.split(' ').at(-1));
    t.same(await tagsOf(), ['tennis', 'Golf', 'tennis', '']);

    t.equal(await run(`import ${acme.appId} ${path} --create-tags`), 0);
    t.match(context.printed.at(-1), /\n {2}4 tags created/);
    t.same(await tagsOf(), [
      'foreign,nobody,tennis',
      `Golf,${[foreign, tennis].map((id) => `imported-${id}`).sort()},nobody`,
      'tennis',
      '',
    ]);
    const mine = await sql`select client_id from tags where source_id = 'foreign' order by 1`;
    t.same([...mine], [{ client_id: acme.clientId }, { client_id: other.clientId }]);
  },

  'tags that are left out or made are counted over all batches': async (t, store) => {
    const acme = await makeTenant(store.sql, 'acme');
    const { context, write, run } = commander(t, store);
    const count = DEVICES_PER_REQUEST_MAX * 2 + 1;
    const lines = Array.from({ length: count }, (_, n) =>
      JSON.stringify({
        platformId: 15,
        deviceId: `d${n}`,
        tags: [`tag-${n % 2}-${n === count - 1}`],
      }),
    );
    const path = write('devices.ndjson', lines.join('\n'));
    t.equal(await run(`import ${acme.appId} ${path}`), 0);
    const counted = count.toLocaleString('en');
    t.match(
      context.printed.at(-1),
      new RegExp(`\n {2}${counted} added\n {2}${counted} subscriptions left out`),
    );
    t.equal(await run(`import ${acme.appId} ${path} --create-tags`), 0);
    t.match(context.printed.at(-1), /\n {2}3 tags created$/);
  },

  'a device that is there: its app has the last word': async (t, store) => {
    const { sql } = store;
    const acme = await makeTenant(sql, 'acme');
    const [a = 0, b = 0, c = 0] = await acme.makeTags(3);
    await sql`update tags set source_id = chr(96 + id - ${a - 1}) where id = any(${[a, b, c]})`;
    await sql`update clients set catalogue_version = catalogue_version + 1`;
    const api = makeAppApi(store);
    const call = (endpoint: string, deviceId: string, tagId: readonly number[]) =>
      api.call(endpoint, acme.caller, { appId: acme.appId, platformId: 15, deviceId, tagId });
    for (const device of ['x', 'y', 'z']) await call('reg', device, [a, b]);
    await sql`update devices set registered_at = '2026-01-01Z', app_version = 'old'`;
    const line = (deviceId: string, more: object) =>
      JSON.stringify({ platformId: 15, deviceId, tags: ['b', 'c'], ...more });
    const { context, write, run } = commander(t, store, {}, (ask) => async (url, init) => {
      if (isImport(url, init)) {
        // The app calls while the import is under way.
        await call('ureg', 'y', [a]);
        await call('reg', 'z', [a]);
      }
      return await ask(url, init);
    });
    const path = write(
      'devices.ndjson',
      [
        line('x', { registeredAt: '2026-02-02T00:00:00Z', appVersion: 'new' }),
        line('y', { registeredAt: '2025-02-02T00:00:00Z', appVersion: 'new' }),
        line('z', { registeredAt: '2999-02-02T00:00:00Z' }),
        line('new', { registeredAt: '2026-02-02T00:00:00Z' }),
        line('when', {}),
        line('idle', { tags: [] }),
      ].join('\n'),
    );
    const today = new Date().toISOString().slice(0, 10);
    const seen = async () =>
      (await devicesOf(sql, acme.appId)).map((text) => text.replace(/ \d\d:\d\d:\d\d/, ''));
    t.equal(await run(`import ${acme.appId} ${path}`), 0);
    t.same(await seen(), [
      `15 idle - ${today} `,
      '15 new - 2026-02-02 b,c',
      '15 when - 1970-01-01 b,c',
      '15 x new 2026-02-02 a,b,c',
      '15 y old 2026-01-01 b',
      `15 z old ${today} a,b,c`,
    ]);
    t.match(context.printed.at(-1), /3 added\n {2}2 existed already.*\n {2}1 unchanged/);

    t.equal(await run(`import ${acme.appId} ${path} --replace-tags`), 0);
    t.same(await seen(), [
      `15 idle - ${today} `,
      '15 new - 2026-02-02 b,c',
      '15 when - 1970-01-01 b,c',
      '15 x new 2026-02-02 b,c',
      '15 y old 2026-01-01 b',
      `15 z old ${today} a,b,c`,
    ]);
  },

  'bad lines are named and passed over, up to a limit; what cannot be here is counted': async (
    t,
    store,
  ) => {
    const acme = await makeTenant(store.sql, 'acme');
    const { context, write, pathOf, run } = commander(t, store);
    const path = write(
      'devices.csv',
      'platformId,deviceId\n15,a\n15\n7,web\n,b\n15,c\n15,c\n9,d\n15,e\n',
    );
    t.equal(await run(`import ${acme.appId} ${path}`), 1, 'not all of it');
    t.same(context.complaints, [
      'Line 3 has 1 fields where the first line has 2.',
      'Line 5 platformId must be 3 (iOS), 7 (Web) or 15 (Android).',
      'Line 8 platformId must be 3 (iOS), 7 (Web) or 15 (Android).',
    ]);
    t.match(
      context.printed.at(-1),
      /^8 records.*\n {2}4 added\n {2}1 skipped: the app is not on this platform, Web\n {2}3 bad records/,
    );
    t.equal(await run(`import ${acme.appId} ${path} --bad-lines 1`), 1);
    t.match(
      context.complaints.at(-1),
      /^There are more than 1 bad record \(--bad-lines\)\. The same command/,
    );
    t.match(readFileSync(`${path}.import-${acme.appId}.state`, 'utf8'), /"records":4,/);
    t.equal(await run(`import ${acme.appId} ${path} --bad-lines 2`), 1);
    t.equal(await run(`import ${acme.appId} ${path} --bad-lines 5`), 1);
    t.match(context.printed.at(-1), /^8 records: 1 in this run,/, 'went on');

    t.equal(await run(`import ${acme.appId} ${write('x.csv', '{"a":1}\n')}`), 1);
    t.match(context.complaints.at(-1), /^The first line has no names of columns\.$/);
    t.equal(await run(`import ${acme.appId} ${write('y.csv', 'a,deviceId\n')}`), 1);
    t.equal(
      context.complaints.at(-1),
      'The file has no column platformId. The columns that it has: a, deviceId.',
    );
    t.equal(await run(`import ${acme.appId} ${write('x.csv.gz', 'not packed')}`), 1);
    t.match(context.complaints.at(-1), /^The file cannot be read: Z_DATA_ERROR\.$/);
    t.equal(await run(`import 999999 ${path}`), 1);
    t.equal(context.complaints.at(-1), 'There is no app 999999.');
    t.equal(await run(`export 999999 --output ${pathOf('none')}`), 1);
    t.equal(context.complaints.at(-1), 'There is no app 999999.');
  },

  'a file of another format: the one that fits is named': async (t, store) => {
    const acme = await makeTenant(store.sql, 'acme');
    const { context, write, run } = commander(t, store);
    const oneSignal = write('users.csv', 'identifier,device_type\na,1\n');
    t.equal(await run(`import ${acme.appId} ${oneSignal}`), 1);
    t.equal(
      context.complaints.at(-1),
      'The file has no column platformId, deviceId. The columns that it has: identifier, device_type. It looks like --format onesignal.',
    );
    for (const flags of ['', ' --dry-run']) {
      t.equal(await run(`import ${acme.appId} ${oneSignal} --format ndjson${flags}`), 1);
      t.equal(
        context.complaints.at(-1),
        'No record could be read. It looks like --format onesignal.',
      );
    }
    t.equal(await run(`import ${acme.appId} ${oneSignal} --format azure --bad-lines 1`), 1);
    t.match(context.complaints.at(-1), /bad record .* It looks like --format onesignal\./);
  },

  'malformed tokens are told, and left out': async (t, store) => {
    const { sql } = store;
    const acme = await makeTenant(sql, 'acme');
    const { appId } = acme;
    await sql`insert into app_platforms (app_id, platform_id) values (${appId}, 7)`;
    await sql`update clients set catalogue_version = catalogue_version + 1`;
    const { context, write, run } = commander(t, store);
    const ios = 'ab'.repeat(32);
    const keys = {
      p256dh: Buffer.concat([Buffer.from([4]), Buffer.alloc(64)]).toString('base64url'),
      auth: Buffer.alloc(16).toString('base64url'),
    };
    const subscription = { endpoint: 'https://push.example/a', keys };
    const devices = [
      [3, ios],
      [3, `<${ios}>`],
      [3, 'abc'],
      [15, 'cJ4xVbq8:APA91bHbYHk7_-zq'],
      [15, 'cJ4xVbq8%3AAPA91bHbYHk7zq'],
      [7, JSON.stringify(subscription)],
      [7, JSON.stringify({ ...subscription, keys: { ...keys, auth: 'short' } })],
      [7, JSON.stringify({ ...subscription, endpoint: 'https://a.invalid/removed' })],
    ].map(([platformId, deviceId]) => JSON.stringify({ platformId, deviceId, tags: [] }));
    const path = write('devices.ndjson', devices.join('\n'));
    t.equal(await run(`import ${appId} ${path}`), 1);
    t.match(context.complaints, [
      /^Line 2 deviceId must be a token of APNs: /,
      /^Line 3 deviceId must be a token of APNs: /,
      /^Line 5 deviceId must be a token of FCM: /,
      /^Line 7 deviceId must be a browser's subscription/,
    ]);
    t.match(context.printed.at(-1), /\n {2}4 added\n {2}4 bad records, reported above$/);
  },

  'only the wanted tags; without a choice an import creates a thousand at most': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const acme = await makeTenant(sql, 'acme');
    const { context, write, run } = commander(t, store);
    const rows = Array.from(
      { length: CREATED_TAGS_MAX },
      (_, n) => `d${n},1,"{""user_id"":""u${n}"",""plan"":""${n % 2 ? 'pro' : 'free'}""}"`,
    );
    const path = write('users.csv', ['identifier,device_type,tags', ...rows].join('\n'));
    const importing = `import ${acme.appId} ${path} --format onesignal --create-tags`;
    const tags = async () => {
      const rows = await sql<{ id: string }[]>`
        select source_id as id from tags where client_id = ${acme.clientId} order by 1`;
      return rows.map(({ id }) => id);
    };
    const before = await tags();
    t.equal(await run(importing), 1);
    t.match(
      context.complaints.at(-1),
      /^This import would create more than 1,000 tags\. Look at them with --dry-run, .*: all\)\.$/,
    );
    t.same(await tags(), before, 'none was created');
    t.notOk(existsSync(`${path}.import-${acme.appId}.state`), 'there is nothing to continue');

    t.equal(await run(`${importing} --without-tags user_id --tags plan,tennis`), 0);
    t.same(await tags(), [...before, 'plan:free', 'plan:pro']);
    t.match(
      context.printed.at(-1),
      /\n {2}1,000 added\n {2}2 tags created\n {2}1,000 subscriptions left out by --tags/,
    );
    t.equal(await run(`${importing} --tags *`), 0);
    t.equal((await tags()).length, before.length + 2 + CREATED_TAGS_MAX);
  },

  'a dry run changes nothing, and shows what an import would do': async (t, store) => {
    const { sql } = store;
    const acme = await makeTenant(sql, 'acme');
    await acme.makeTag({ sourceId: 'plan:pro' });
    const { context, write, run } = commander(t, store);
    const rows = [
      'a,1,"{""plan"":""pro"",""user_id"":""1""}",f,1',
      'b,1,"{""plan"":""free"",""user_id"":""2"",""tennis"":""1""}",f,',
      'c,1,"{""plan"":""pro""}",f,-2',
      'd,1,,t,1',
      'e,1,,t,1',
      'maya@acme.example,11,,f,',
      'wrong token,1,,f,1',
    ];
    const head = 'identifier,device_type,tags,invalid_identifier,notification_types';
    const path = write('users.csv', [head, ...rows].join('\n'));
    const asked = `import ${acme.appId} ${path} --format onesignal --create-tags --dry-run`;
    const known = async () => [
      await sql`select count(*) from tags`,
      await sql`select count(*) from devices`,
      await sql`select count(*) from audit_entries`,
    ];
    const before = await known();
    t.equal(await run(asked), 1, 'a token is bad');
    t.equal(
      context.printed.at(-1),
      [
        '7 records read, nothing imported (--dry-run)',
        '  2 devices to import, Android',
        '  1 skipped: opted out (notification_types), Android',
        '  2 skipped: unsubscribed (invalid_identifier), Android',
        '  1 skipped: of a kind that is not pushed to (device_type)',
        '  1 bad record, reported above',
        'Tags of these devices, by key:',
        '  key      subscriptions  tags  new',
        '  user_id              2     2    2',
        '  plan                 2     2    1',
        '  tennis               1     1    1',
        '4 tags would be new: --create-tags creates what is new, else it is left out.',
      ].join('\n'),
    );
    t.match(context.complaints, [/^Line 8 deviceId must be a token of FCM/]);
    t.same(await known(), before);
    t.notOk(existsSync(`${path}.import-${acme.appId}.state`));
    t.equal(await run(`${asked} --without-tags user_id --json`), 1);
    t.match(JSON.parse(context.printed.at(-1) ?? ''), {
      end: 'done',
      records: 7,
      devices: { 15: 2 },
      faults: 1,
      tagsNotTaken: 2,
      keys: [
        { key: 'plan', subscriptions: 2, tags: 2, newTags: 1 },
        { key: 'tennis', subscriptions: 1, tags: 1, newTags: 1 },
      ],
    });
  },

  'limits: devices of an app, tags of a device': async (t, store) => {
    const acme = await makeTenant(store.sql, 'acme');
    const limits = { devicesPerAppMax: 10, tagsPerDeviceMax: 2 };
    const { context, write, run } = commander(t, store, limits);
    const devices = Array.from({ length: 12 }, (_, n) =>
      JSON.stringify({
        platformId: 15,
        deviceId: `d${n}`,
        tags: n === 0 ? ['a', 'b', 'c'] : ['a'],
      }),
    );
    const path = write('devices.ndjson.gz', gzipSync(devices.join('\n')));
    t.equal(await run(`import ${acme.appId} ${path} --create-tags`), 1);
    t.match(context.printed.at(-1), /\n {2}2 left out: the app has DEVICES_PER_APP_MAX/);
    const [counted] = await store.sql`
      select count(*) as devices, (select max(count) from (select count(*) from ${subscriptions(store.sql)} group by ordinal) as x) as tags
      from devices`;
    t.match(counted, { devices: '10', tags: '2' });
    await store.sql`delete from devices where device_id <> 'd0'`;
    const one = write('one.ndjson', '{"platformId":15,"deviceId":"d0","tags":["c"]}');
    t.equal(await run(`import ${acme.appId} ${one}`), 0);
    t.match(context.printed.at(-1), /\n {2}1 without some tags: TAGS_PER_DEVICE_MAX/);
  },

  'the summary for programs': async (t, { sql, ...store }) => {
    const acme = await makeTenant(sql, 'acme');
    const { context, write, run } = commander(t, { sql, ...store });
    const lines = ['{"platformId":15,"deviceId":"d0","tags":["a"]}', 'no JSON'];
    const path = write('devices.ndjson', lines.join('\n'));
    const importing = `import ${acme.appId} ${path} --create-tags --json`;
    t.equal(await run(importing), 1);
    const [printed = ''] = context.printed;
    t.equal(context.printed.length, 1, 'nothing but JSON');
    t.match(JSON.parse(printed), { end: 'done', records: 2, results: { added: 1 }, faults: 1 });
  },

  'an interrupted import goes on where it was, an export too': async (t, store) => {
    const { sql } = store;
    const acme = await makeTenant(sql, 'acme');
    const other = await makeTenant(sql, 'other');
    const tag = await acme.makeTag({ sourceId: 'a' });
    await seedDevices(sql, { appId: acme.appId, platformId: 15, tagIds: [tag], count: 4_200 });
    let requests = 0;
    let interruptAt = Number.POSITIVE_INFINITY;
    const { context, signals, pathOf, run } = commander(
      t,
      store,
      {},
      (ask) => async (url, init) => {
        if (isTransfer(url)) requests += 1;
        if (requests === interruptAt) signals.emit('SIGINT');
        return await ask(url, init);
      },
    );
    const path = pathOf('devices.ndjson');
    interruptAt = 2;
    t.equal(await run(`export ${acme.appId} --output ${path}`), 130);
    t.equal(context.complaints.at(-1), 'Interrupted: the same command continues from here.');
    interruptAt = Number.POSITIVE_INFINITY;
    t.equal(await run(`export ${acme.appId} --output ${path}`), 0);
    const ids = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).deviceId);
    t.equal(ids.length, 4_200);
    t.equal(new Set(ids).size, 4_200, 'none twice');
    t.equal(await run(`export ${acme.appId} --output ${path}`), 2);
    t.match(context.complaints.at(-1), /exists already$/);

    requests = 0;
    interruptAt = 2;
    t.equal(await run(`import ${other.appId} ${path} --create-tags`), 130);
    interruptAt = Number.POSITIVE_INFINITY;
    const [partly] = await sql<{ count: number }[]>`
      select count(*) from devices where app_id = ${other.appId}`;
    t.ok(Number(partly?.count) < 4_200, `${partly?.count} were imported`);
    t.equal(await run(`import ${other.appId} ${path} --create-tags --replace-tags`), 2);
    t.match(context.complaints.at(-1), /begun with another --replace-tags/);
    requests = 0;
    t.equal(await run(`import ${other.appId} ${path} --create-tags`), 0);
    t.match(context.printed.at(-1), /^4,200 records.*\n {2}4,200 added/);
    t.ok(requests < 5, `${requests} requests`);
    t.same(
      (await devicesOf(sql, other.appId)).length,
      new Set(await devicesOf(sql, acme.appId)).size,
    );
  },

  'an engine that is away for a moment is waited for': async (t, store) => {
    const acme = await makeTenant(store.sql, 'acme');
    let failures = 2;
    const { context, write, run } = commander(t, store, {}, (ask) => (url, init) => {
      if (!isImport(url, init) || failures === 0) return ask(url, init);
      failures -= 1;
      const starting = problem('r', 503, 'The engine is still starting.');
      return Promise.resolve(new Response(String(starting.body), starting));
    });
    const path = write('devices.csv', 'platformId,deviceId\n15,a\n');
    t.equal(await run(`import ${acme.appId} ${path}`), 0);
    t.match(context.printed.at(-1), /1 added/);
  },

  'what is refused is not waited for': async (t, store) => {
    const acme = await makeTenant(store.sql, 'acme');
    const { context, write, run } = commander(t, store, {}, (ask) => (url, init) => {
      if (!String(url).endsWith('/find-tags')) return ask(url, init);
      const refused = problem('r', 403, 'This client may have 1 tags.');
      return Promise.resolve(new Response(String(refused.body), refused));
    });
    const path = write('devices.ndjson', '{"platformId":15,"deviceId":"a","tags":["x"]}\n');
    const startedAtMs = performance.now();
    t.equal(await run(`import ${acme.appId} ${path} --create-tags`), 1);
    t.match(context.complaints.at(-1), /^This client may have 1 tags\. The same command/);
    t.ok(performance.now() - startedAtMs < 30_000);
  },
});

t.test('mistakes in the arguments', async (t) => {
  const context = recordedContext();
  const command = devicesCommand(context, new EventEmitter());
  const cases: readonly (readonly [line: string, sentence: RegExp])[] = [
    ['', /^devices needs export or import/],
    ['export', /^<app> is missing$/],
    ['export x', /^<app> must be a number, not x$/],
    ['export 1 --format xml', /^--format must be csv or ndjson, not xml$/],
    ['export 1 --resume-from 3', /^--resume-from must be <platform>\.<ordinal>, not 3$/],
    ['export 1 --resume-from 3.4 --output x', /^--resume-from is for standard output/],
    ['import 1', /^<file> is missing$/],
    ['import 1 -', /^--format is missing: csv, ndjson/],
    ['import 1 x.xml --format xml', /^--format must be csv, ndjson, .*, not xml$/],
    ['import 1 /nowhere/x.csv', /^cannot read \/nowhere\/x\.csv$/],
    ['import 1 /tmp --format csv', /^cannot read \/tmp$/],
    ['import 1 x.csv --tags a,,b', /^--tags must be names of tags with commas between$/],
    ['import 1 x.csv --bad-lines all', /^--bad-lines must be a number, not all$/],
  ];
  for (const [line, sentence] of cases) {
    t.equal(await command.run(line === '' ? [] : line.split(' ')), 2, line);
    t.match(context.complaints.at(-1), sentence, line);
  }
  t.equal(await command.run(['import', '--help']), 0);
  t.equal(context.openSessions(), 0);
});
