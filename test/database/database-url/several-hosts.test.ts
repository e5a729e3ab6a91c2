/** `DATABASE_URL` with several hosts, as clusters of Patroni have them, on two real servers. */

import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import { databaseFault } from '../../../src/database/database-fault.ts';
import { findAddress } from '../../../src/database/find-address.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import { connect } from '../../../src/database/sql.ts';
import { until } from '../../support/poll.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { findPostgres, startPostgres } from '../../support/postgres-server.ts';
import { freePorts } from '../../support/programs.ts';

const CONNECTIONS_MAX = 2;

const urlOf = (...ports: readonly number[]): string =>
  `postgres://postgres@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/postgres?connect_timeout=10`;
/** For places of which one is silent: a server of a busy machine may be slow, too. */
const impatient = (url: string): string => url.replace(/\d+$/, '2');

const placeOf = ({ url }: PostgresServer): number => Number(new URL(url).port);

/** The ports of the servers that answer statements which need both connections of the pool. */
async function answering(sql: SqlPool): Promise<readonly number[]> {
  const ask = async () => {
    const [row] = await sql<{ port: number }[]>`
      select inet_server_port() as port from pg_sleep(0.05)`;
    return row?.port ?? 0;
  };
  return [...new Set(await Promise.all([ask(), ask()]))];
}

async function answeringAt(url: string): Promise<readonly number[]> {
  const sql = connect({ kind: 'postgres', url }, CONNECTIONS_MAX);
  try {
    return await answering(sql);
  } finally {
    await sql.end();
  }
}

/** Makes a server a standby for who asks, or a primary again, and ends the sessions of others. */
async function setReadOnly(server: PostgresServer, isReadOnly: boolean): Promise<void> {
  const sql = connect({ kind: 'postgres', url: server.url }, 1);
  await sql.unsafe(`alter system set default_transaction_read_only = ${isReadOnly}`);
  await sql`select pg_reload_conf()`;
  await sql`
    select pg_terminate_backend(pid, 1000) from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`;
  await sql.end();
  await until('new sessions have it', async () => {
    const fresh = connect({ kind: 'postgres', url: server.url }, 1);
    const [row] = await fresh`show default_transaction_read_only`;
    await fresh.end();
    return row?.['default_transaction_read_only'] === (isReadOnly ? 'on' : 'off') ? true : null;
  });
}

/** An ErrorResponse as a server sends it that is starting (PostgreSQL, "Message Formats"). */
const CANNOT_CONNECT_NOW = Buffer.concat([
  Buffer.from('E'),
  Buffer.from([0, 0, 0, 35]),
  Buffer.from('SFATAL\0C57P03\0Mit is starting\0\0'),
]);

async function listen(t: Test, onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.resume().on('error', () => undefined);
    onConnection(socket);
  });
  t.teardown(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const bin = findPostgres();
t.test(
  'several hosts',
  bin === null ? { skip: 'no PostgreSQL is installed here to be started twice' } : {},
  async (t) => {
    if (bin === null) return;
    const [first, second] = await Promise.all([
      startPostgres(bin, { fsync: false }),
      startPostgres(bin, { fsync: false }),
    ]);
    t.teardown(() => Promise.all([first.stop(), second.stop()]));
    const silentPort = await listen(t, () => undefined);
    let closedAtOnce = 0;
    const closingPort = await listen(t, (socket) => {
      closedAtOnce += 1;
      socket.end();
    });
    const startingPort = await listen(t, (socket) => socket.end(CANNOT_CONNECT_NOW));
    const [closed = 0] = await freePorts(1);
    const [a, b] = [placeOf(first), placeOf(second)];
    await setReadOnly(first, true);

    t.same(await answeringAt(urlOf(closed, b)), [b], 'one that does not listen is passed over');
    const silent = impatient(urlOf(silentPort, b));
    t.same(await answeringAt(silent), [b], 'and one that does not answer');
    t.same(await answeringAt(urlOf(startingPort, b)), [b], 'and one that is starting');
    t.same(await answeringAt(urlOf(closingPort, b)), [b], 'and one that closes every connection');
    t.same(
      await answeringAt(urlOf(a, b)),
      [b],
      'and one that takes no writes, without target_session_attrs',
    );
    const primary = `${urlOf(a, b)}&target_session_attrs=primary`;
    t.same(await answeringAt(primary), [a], 'a server that is read-only may be the primary');
    t.same(await answeringAt(urlOf(closed, a, b)), [b]);

    const faultAt = async (url: string): Promise<string> => {
      const error = await findAddress(url).catch((error: unknown) => error);
      return databaseFault(url, error).message;
    };
    t.match(await faultAt(urlOf(closed, closed)), /nothing listens there: start PostgreSQL/);
    t.match(await faultAt(urlOf(closed, a)), /it accepts no writes \(a standby, or read-only\)/);

    closedAtOnce = 0;
    t.match(await faultAt(urlOf(closingPort, closingPort)), /the connection was closed: check/);
    t.equal(closedAtOnce, 2, 'each was tried once');

    const sql = connect({ kind: 'postgres', url: urlOf(a, b) }, CONNECTIONS_MAX);
    t.teardown(() => sql.end());
    t.same(await answering(sql), [b]);
    await setReadOnly(first, false);
    await setReadOnly(second, true);
    t.same(await answering(sql), [a], 'the same pool finds the new primary');
    await setReadOnly(first, true);
    await t.rejects(answering(sql), { code: '25006' }, 'no primary: an error, and no circle');
    await setReadOnly(second, false);
    t.same(await answering(sql), [b], 'and found when there is one again');
  },
);
