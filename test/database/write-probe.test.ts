/** A database that answers is not one that takes writes. */

import { chownSync } from 'node:fs';
import t from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import { connect } from '../../src/database/sql.ts';
import { openPostgres } from '../../src/database/store.ts';
import { WriteProbe } from '../../src/database/write-probe.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { until } from '../support/poll.ts';
import { findPostgres, startPostgres, unprivilegedOwner } from '../support/postgres-server.ts';
import { fillDisk, smallDisk } from '../support/small-disk.ts';
import { withPostgres, withStores } from '../support/store.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

t.test('it writes one row, again and again', async (t) => {
  await withStores(t, async (t, store) => {
    const probe = probeOf(t, new WriteProbe(store.address));
    t.same(await probe.ask(), { state: 'ok', reason: null });
    const [first] = await writtenIn(store.sql);
    t.same(await probe.ask(), { state: 'ok', reason: null });
    const rows = await writtenIn(store.sql);
    t.equal(rows.length, 1);
    t.ok(Number(rows[0]?.writtenAt) > Number(first?.writtenAt), 'committed each time');
  });
});

t.test('read-only', async (t) => {
  await withPostgres(t, async (t, url) => {
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    const probe = probeOf(t, new WriteProbe(store.address));
    t.match(await probe.ask(), { state: 'ok' });
    const name = new URL(url).pathname.slice(1);
    await store.sql.unsafe(`alter database ${name} set default_transaction_read_only = on`);
    await endOthers(store.sql);
    // At first it may find its connection ended.
    const reading = await until('it is noticed', async () => {
      const asked = await probe.ask();
      return asked.state === 'cannot write' ? asked : null;
    });
    t.match(reading.reason, /read-only/);
    await store.sql.begin('read write', (tx) =>
      tx.unsafe(`alter database ${name} set default_transaction_read_only = off`),
    );
    await endOthers(store.sql);
    await until('it is over', async () => ((await probe.ask()).state === 'ok' ? true : null));
  });
});

t.test('a row that somebody holds', async (t) => {
  await withPostgres(t, async (t, url) => {
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    const probe = probeOf(t, new WriteProbe(store.address));
    await probe.ask();
    await store.sql.begin(async (tx) => {
      await tx`select from write_probe for update`;
      t.match(await probe.ask(), { state: 'cannot write', reason: /timeout/ });
      const [left] = await tx`
        select from pg_stat_activity
        where datname = current_database() and state = 'active' and query like '%write_probe%'
          and pid <> pg_backend_pid()`;
      t.equal(left, undefined, 'no statement is left behind');
    });
    t.match(await probe.ask(), { state: 'ok' });
  });
});

t.test('silent, and back', async (t) => {
  await withPostgres(t, async (t, url) => {
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    const target = new URL(url);
    const proxy = await startTcpProxy(t, Number(target.port));
    target.hostname = '127.0.0.1';
    target.port = String(proxy.port);
    const probe = probeOf(t, new WriteProbe({ kind: 'postgres', url: target.href }));
    t.match(await probe.ask(), { state: 'ok' });
    proxy.silence();
    t.match(await probe.ask(), { state: 'unavailable', reason: /no answer/ });
    // The old connection stays silent: no probe waits for it any more.
    t.match(await probe.ask(), { state: 'ok' });
  });
});

t.test('a disk without room', async (t) => {
  const disk = smallDisk(t, 32);
  const bin = findPostgres();
  if (disk === null || bin === null) return t.comment('no disk of its own can be mounted here');
  const owner = unprivilegedOwner();
  if (owner !== null) chownSync(disk, owner.uid, owner.gid);
  const server = await startPostgres(bin, { fsync: false });
  t.teardown(() => server.stop());
  const admin = connect({ kind: 'postgres', url: server.url }, 1);
  await admin.unsafe(`create tablespace small location '${disk}'`);
  await admin.unsafe('create database crowded tablespace small');
  await admin.end();
  const url = new URL(server.url);
  url.pathname = '/crowded';
  const store = await openPostgres(url.href);
  t.teardown(() => store.close());
  const probe = probeOf(t, new WriteProbe(store.address));
  t.match(await probe.ask(), { state: 'ok' });
  const empty = fillDisk(disk);
  t.match(await probe.ask(), { state: 'cannot write', reason: /No space left on device/ });
  t.ok((await writtenIn(store.sql)).length > 0, 'reading goes on');
  empty();
  t.match(await probe.ask(), { state: 'ok' });
});

function probeOf(t: Lifetime, probe: WriteProbe): WriteProbe {
  t.teardown(() => probe.close());
  return probe;
}

const writtenIn = (sql: SqlPool) => sql<{ writtenAt: number }[]>`
  select extract(epoch from written_at)::float8 as "writtenAt" from write_probe`;

/** A setting of a database counts for the connections that come after it. */
const endOthers = (sql: SqlPool) => sql`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;
