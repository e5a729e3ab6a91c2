/** Databases whose sessions mean other things by themselves, reached straight and by a pooler. */

import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect as connectSocket, createServer } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import { SESSION_SETTINGS } from '../../src/database/session-settings.ts';
import { connect } from '../../src/database/sql.ts';
import { openPostgres } from '../../src/database/store.ts';
import { checkDatabase } from '../../src/doctor/database.ts';
import { secrets } from '../support/api.ts';
import { withPostgres } from '../support/store.ts';

/** The setting that harms each of them. */
const HARMFUL: Readonly<Record<string, string>> = {
  bytea_output: 'escape',
  DateStyle: 'SQL, DMY',
  extra_float_digits: '-10',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  default_transaction_isolation: 'serializable',
};

async function alter(url: string, change: (name: string) => string): Promise<void> {
  const sql = connect({ kind: 'postgres', url }, 1);
  const [row] = await sql<{ name: string }[]>`select current_database() as name`;
  for (const name of Object.keys(HARMFUL)) {
    await sql.unsafe(`alter database "${row?.name}" ${change(name)}`);
  }
  await sql.end();
}

const spoil = (url: string): Promise<void> =>
  alter(url, (name) => `set ${name} = '${HARMFUL[name]}'`);

/**
 * Plays PgBouncer: it takes no settings but those that it knows. Returns the URL to reach it by.
 */
async function startPooler(t: Test, url: string): Promise<string> {
  const { host, port, path } = connect({ kind: 'postgres', url }, 1).options;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket =>
    sockets.add(socket) && socket.on('error', () => undefined);
  const server = createServer((socket) => {
    keep(socket).once('data', (startup) => {
      if (startup.includes('bytea_output')) {
        const fields = 'SFATAL\0C08P01\0Munsupported startup parameter: bytea_output\0\0';
        const head = Buffer.from('E\0\0\0\0');
        head.writeInt32BE(4 + fields.length, 1);
        socket.end(Buffer.concat([head, Buffer.from(fields)]));
        return;
      }
      const upstream = keep(
        typeof path === 'string' ? connectSocket(path) : connectSocket(port[0] ?? 0, host[0]),
      );
      upstream.write(startup);
      socket.pipe(upstream).pipe(socket);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const pooled = new URL(url);
  pooled.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  pooled.search = '';
  return pooled.href;
}

const OCTETS = Buffer.from([0, 1, 92, 255]);

t.test('each connection brings the settings that it relies on', (t) =>
  withPostgres(t, async (t, url) => {
    t.same(Object.keys(HARMFUL), Object.keys(SESSION_SETTINGS));
    await spoil(url);
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    const dedicated = store.openDedicatedConnection();
    const inSession = await dedicated.transactAtOnce((tx) =>
      Promise.all(Object.keys(SESSION_SETTINGS).map((name) => tx.unsafe(`show ${name}`))),
    );
    t.same(
      inSession.map(([row]) => Object.values(row ?? {})[0]),
      Object.values(SESSION_SETTINGS),
    );
    const [row] = await store.sql<{ octets: Buffer; isNull: boolean; ms: number }[]>`
      select ${OCTETS}::bytea as octets, ('{1,NULL}'::text[])[2] is null as "isNull",
        1764201600123.456::float8 as ms`;
    t.same(row, { octets: OCTETS, isNull: true, ms: 1_764_201_600_123.456 });
  }),
);

t.test('a pooler that takes no settings', (t) =>
  withPostgres(t, async (t, url) => {
    const pooled = await startPooler(t, url);
    const store = await openPostgres(pooled);
    t.match(await store.sql`select ${OCTETS}::bytea as octets`, [{ octets: OCTETS }]);
    await store.close();

    await spoil(url);
    const fault = /bytea_output is 'escape'.+ALTER DATABASE … SET bytea_output = 'hex'/;
    await t.rejects(openPostgres(pooled), { name: 'SettingFault', message: fault });
    const checked = await checkDatabase(pooled, 1, secrets);
    t.match(checked.findings, [{ level: 'problem', text: fault }]);
    await checked.close();
    await alter(url, (name) => `reset ${name}`);
    await (await openPostgres(pooled)).close();
  }),
);
