/**
 * A client that speaks PostgreSQL's protocol up to the middle of a statement, and then stops, as a
 * frozen process does.
 */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import t from 'tap';
import { endStalledTransactions } from '../../../src/database/maintenance/stalled-transactions.ts';
import { connect as connectSql } from '../../../src/database/sql.ts';
import { until } from '../../support/poll.ts';
import { withPostgres } from '../../support/store.ts';

/** A message of the protocol: its type, its length, its text ended by zeros. */
function message(type: string, ...texts: readonly string[]): Buffer {
  const body = Buffer.concat(texts.map((text) => Buffer.from(`${text}\0`)));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

async function stallWithLock(url: URL): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  await once(socket, 'connect');
  const version = Buffer.from([0, 3, 0, 0]);
  const options = ['user', url.username, 'database', url.pathname.slice(1)];
  const names = [...options, 'application_name', 'tagcast', ''].map((text) => `${text}\0`);
  const startup = Buffer.concat([Buffer.alloc(4), version, Buffer.from(names.join(''))]);
  startup.writeUInt32BE(startup.length);
  socket.write(startup);
  socket.resume();
  socket.write(message('Q', 'begin; lock table tag_days'));
  // Parse and Flush: the session now waits for Bind.
  const parse = message('P', '', 'select 1');
  parse.writeUInt32BE(parse.length - 1 + 2, 1);
  socket.write(Buffer.concat([parse, Buffer.from([0, 0]), message('H')]));
  return socket;
}

t.test('what a stopped client holds is given back', async (t) => {
  await withPostgres(t, async (t, url) => {
    const sql = connectSql({ kind: 'postgres', url }, 2);
    t.teardown(() => sql.end());
    await sql`create table if not exists tag_days (tag_id integer)`;
    const socket = await stallWithLock(new URL(url));
    t.teardown(() => socket.destroy());
    const closed = once(socket, 'close');
    await until('the client waits with its lock', async () => {
      const [row] = await sql`
        select 1 from pg_stat_activity
        where datname = current_database() and state = 'active' and wait_event = 'ClientRead'`;
      return row ?? null;
    });
    t.equal(await endStalledTransactions(sql, 60_000), 0, 'not before its time');
    t.equal(await endStalledTransactions(sql, 0), 1);
    await closed;
    await sql`lock table tag_days in share mode nowait`.catch((error: Error) => {
      t.match(error.message, /transaction block/, 'no lock is in the way');
    });
    t.equal(await endStalledTransactions(sql, 0), 0);
  });
});
