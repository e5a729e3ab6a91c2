/**
 * The size of a device and a push job in PostgreSQL, and in its log: for the formulas in
 * docs/operate/scale.md. The rows come the way they really come, through POST /push-api/reg,
 * because how full the pages of an index are depends on that.
 */

import { createHash } from 'node:crypto';
import autocannon from 'autocannon';
import type { SqlPool } from '../../src/database/sql.ts';
import { connect } from '../../src/database/sql.ts';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { until } from '../../test/support/poll.ts';
import type { EngineProcess } from '../../test/support/processes.ts';
import { startEngine } from '../../test/support/processes.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import type { Row, Scenario } from '../scenario.ts';
import { benchStores } from '../stores.ts';

const DEVICES = 10_000;
const TAGS = 100;
const TAGS_PER_DEVICE = 20;
/** All that a device has rows in. */
const DEVICE_TABLES = ['devices', 'device_groups', 'device_group_tags'];
const JOBS = 1_000;
const CONNECTIONS = 256;
/** No speed is measured: on a busy machine answers may come late. */
const TIMEOUT_SECONDS = 300;

/**
 * Tokens of an iPhone and of an Android phone, as the providers hand them out; neither can be
 * compressed.
 */
const TOKENS = [
  { name: 'APNs, 64 digits', platformId: 3, of: (seed: Buffer) => seed.toString('hex') },
  {
    name: 'FCM, 142 characters',
    platformId: 15,
    of: (seed: Buffer) => {
      const more = [1, 2, 3].map((n) => createHash('sha256').update(seed).update(`${n}`).digest());
      return Buffer.concat([seed, ...more])
        .toString('base64url')
        .slice(0, 142);
    },
  },
] as const;

type Token = (typeof TOKENS)[number];

export const sizing: Scenario = {
  summary: `${DEVICES.toLocaleString('en')} devices with ${TAGS_PER_DEVICE} of ${TAGS} tags each (Zipf), all of them again, and once more when a day is over; ${JOBS} push jobs; bytes in PostgreSQL, each`,
  async run(stage) {
    const store = (await benchStores(stage)).find(({ name }) => name === 'postgres');
    if (store?.url === undefined) return { rows: [] };
    const admin = connect({ kind: 'postgres', url: store.url }, 1);
    stage.teardown(() => admin.end());
    const rows: Row[] = [];
    let figures: Measured['figures'] | null = null;
    for (const token of TOKENS) {
      const database = `sizing_${token.platformId}`;
      await admin.unsafe(`create database ${database}`);
      const url = new URL(store.url);
      url.pathname = `/${database}`;
      const environment = { ...store.environment, DATABASE_URL: url.href };
      const measured = await measure(stage, environment, token);
      rows.push(...measured.rows);
      // The figures of the first, an iPhone's.
      figures ??= measured.figures;
    }
    return { rows, figures: figures ?? {} };
  },
};

interface Measured {
  readonly rows: readonly Row[];
  readonly figures: Readonly<Record<string, number>>;
}

async function measure(
  stage: Lifetime,
  environment: Readonly<Record<string, string>>,
  token: Token,
): Promise<Measured> {
  const engine = await startEngine(stage, temporaryDirectory(stage), environment);
  const sql = connect({ kind: 'postgres', url: environment['DATABASE_URL'] ?? '' }, 1);
  stage.teardown(() => sql.end());
  const [client] = await sql<{ id: number }[]>`select id from clients`;
  const tagIds = (
    await sql<{ id: number }[]>`
      insert into tags (client_id, name) select ${client?.id ?? 0}, 'Tag' from generate_series(1, ${TAGS}::int) returning id`
  ).map(({ id }) => id);

  const jobs = token === TOKENS[0] ? await measureJobs(engine, sql) : null;
  const first = await logged(sql, () => register(engine, token, tagIds));
  const devices = await sizeOf(sql, DEVICE_TABLES);
  const repetition = await logged(sql, () => register(engine, token, tagIds));
  await writeRepetitions(sql);
  const again = await logged(sql, () => register(engine, token, tagIds));
  const devicesAgain = await sizeOf(sql, DEVICE_TABLES);
  const name = (what: string) => `${what} (${token.name})`;
  const rows: Row[] = [
    rowOf(name(`device with ${TAGS_PER_DEVICE} tags`), devices, DEVICES),
    rowOf(name(`device with ${TAGS_PER_DEVICE} tags, written again`), devicesAgain, DEVICES),
    logRow(name(`registration of a new device with ${TAGS_PER_DEVICE} tags`), first, DEVICES),
    logRow(name('registration that changes nothing'), repetition, DEVICES),
    logRow(name('the same, the first after REGISTRATION_REFRESH_HOURS'), again, DEVICES),
  ];
  if (jobs !== null) rows.push(jobs);
  await engine.end('SIGTERM');
  const figures = {
    bytesPerDeviceTags20: (devices.table + devices.indexes) / DEVICES,
    logPerDeviceTags20: first / DEVICES,
    logPerRepetition: repetition / DEVICES,
  };
  return { rows, figures };
}

/** From now on each repetition is written, once: as if REGISTRATION_REFRESH_HOURS were over. */
const writeRepetitions = (sql: SqlPool) =>
  sql`update app_platforms set repetitions_written_from = clock_timestamp()`;

/** Measured without an audience: the rest of a job is the same, but for its failure reasons. */
async function measureJobs(engine: EngineProcess, sql: SqlPool): Promise<Row> {
  const { superUser, tagIds } = engine.demo();
  await autocannon({
    url: `${engine.baseUrl}/push-api/push`,
    method: 'POST',
    connections: 8,
    amount: JOBS,
    timeout: TIMEOUT_SECONDS,
    headers: { authorization: `Bearer ${superUser.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      tagIds: tagIds.slice(0, 1),
      payload: { title: 'Goal!', message: 'x'.repeat(100), data: { url: 'https://example.com/1' } },
    }),
  });
  await until(
    'all jobs have ended',
    async () => {
      const [row] = await sql<{ open: number }[]>`
      select count(*) as open from notifications where finished_at is null`;
      return row?.open === 0 ? true : null;
    },
    300_000,
  );
  await sql.unsafe('vacuum notifications, notification_scopes');
  const size = await sizeOf(sql, ['notifications', 'notification_scopes', 'failure_reasons']);
  return rowOf('push job of one app on 2 platforms', size, JOBS);
}

interface Size {
  readonly table: number;
  readonly indexes: number;
}

async function sizeOf(sql: SqlPool, tables: readonly string[]): Promise<Size> {
  const [row] = await sql<Size[]>`
    select sum(pg_table_size(name::regclass))::float8 as table, sum(pg_indexes_size(name::regclass))::float8 as indexes
    from unnest(${[...tables]}::text[]) as name`;
  if (row === undefined) throw new Error('a sum has one row');
  return row;
}

const rowOf = (what: string, { table, indexes }: Size, count: number): Row => ({
  what,
  tableBytes: table / count,
  indexBytes: indexes / count,
  bytes: (table + indexes) / count,
  logBytes: null,
});

const logRow = (what: string, bytes: number, count: number): Row => ({
  what,
  tableBytes: null,
  indexBytes: null,
  bytes: null,
  logBytes: bytes / count,
});

/** Bytes of write-ahead log that the work makes, full pages after a checkpoint among them. */
async function logged(sql: SqlPool, work: () => Promise<unknown>): Promise<number> {
  const position = async (): Promise<number> => {
    const [row] = await sql<{ at: number }[]>`select (pg_current_wal_lsn() - '0/0')::float8 as at`;
    return row?.at ?? 0;
  };
  const before = await position();
  await work();
  return (await position()) - before;
}

/** Every device once; a second time it is the same devices with the same tags. */
async function register(
  engine: EngineProcess,
  token: Token,
  tagIds: readonly number[],
): Promise<void> {
  const { appId, apiUser } = engine.demo();
  let next = 0;
  const result = await autocannon({
    url: `${engine.baseUrl}/push-api/reg`,
    method: 'POST',
    connections: CONNECTIONS,
    amount: DEVICES,
    timeout: TIMEOUT_SECONDS,
    headers: { authorization: `Bearer ${apiUser.token}`, 'content-type': 'application/json' },
    requests: [
      {
        setupRequest(request) {
          const seed = createHash('sha256').update(`device ${next}`).digest();
          next += 1;
          const deviceId = token.of(seed);
          const tagId = chosen(seed, tagIds);
          return {
            ...request,
            body: JSON.stringify({ appId, platformId: token.platformId, tagId, deviceId }),
          };
        },
      },
    ],
  });
  if (result['2xx'] !== DEVICES) throw new Error(`only ${result['2xx']} were registered`);
}

/** The n-th tag is chosen in proportion to 1/n, so often until there are enough different ones. */
function chosen(seed: Buffer, tagIds: readonly number[]): readonly number[] {
  let state = seed.readUInt32LE(0);
  const tags = new Set<number>();
  while (tags.size < TAGS_PER_DEVICE) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const rank = Math.floor((tagIds.length + 1) ** (state / 2 ** 32)) - 1;
    const tagId = tagIds[rank];
    if (tagId !== undefined) tags.add(tagId);
  }
  return [...tags];
}
