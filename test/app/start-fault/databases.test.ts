/** The real program, and commands, with a database that cannot be worked with. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import t from 'tap';
import { createCertificate } from '../../../packages/simulator/src/server/certificate.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import { connect } from '../../../src/database/sql.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import type { Case, Environment } from '../../support/start-refusals.ts';
import { holdThrown, PASSWORD, SECRET_KEY } from '../../support/start-refusals.ts';
import { withPostgres } from '../../support/store.ts';

t.test('databases that cannot be worked with', (t) =>
  withPostgres(t, async (t, url) => {
    const admin = connect({ kind: 'postgres', url }, 1);
    t.teardown(() => admin.end());
    const at = (change: (url: URL) => void): Environment => {
      const changed = new URL(url);
      changed.password = PASSWORD;
      change(changed);
      return { DATABASE_URL: changed.href, SECRET_KEY };
    };
    const cases: Case[] = [
      [
        'nobody there',
        { DATABASE_URL: `postgres://user:${PASSWORD}@127.0.0.1:1/news`, SECRET_KEY },
        /^DATABASE_URL: user@127\.0\.0\.1:1\/news: nothing listens there.+ECONNREFUSED/,
      ],
      [
        'a host that nobody knows',
        { DATABASE_URL: `postgres://user:${PASSWORD}@nowhere.invalid/news`, SECRET_KEY },
        /^DATABASE_URL: user@nowhere\.invalid\/news: the host name cannot be resolved/,
      ],
      [
        'a user that is refused',
        at((url) => {
          url.username = 'nobody_of_the_test';
        }),
        /^DATABASE_URL: nobody_of_the_test@.+: the server refuses the sign-in/,
      ],
      [
        'no such database',
        at((url) => {
          url.pathname = '/nothing_of_the_test';
        }),
        /^DATABASE_URL: .+\/nothing_of_the_test: the server has no such database/,
      ],
      [
        'TLS that the server does not offer',
        at((url) => url.searchParams.set('sslmode', 'require')),
        /^DATABASE_URL: .+: it does not offer TLS there: take sslmode out of the URL/,
      ],
      [
        'a certificate that nobody has signed',
        {
          DATABASE_URL: `postgres://user:${PASSWORD}@127.0.0.1:${await startSelfSigned(t)}/news?sslmode=verify-full`,
          SECRET_KEY,
        },
        /^DATABASE_URL: .+: no authority trusted here .+ by sslrootcert in the URL/,
      ],
    ];
    await holdThrown(t, cases, { alsoCommand: true });
    const own = at(() => undefined);
    await t.test('read-only', async (t) => {
      await set(admin, url, 'default_transaction_read_only = on');
      const line = /^DATABASE_URL: .+: it accepts no writes/;
      await holdThrown(t, [['read-only', own, line]], { alsoCommand: true });
      await admin.begin('read write', (tx) => set(tx, url, 'default_transaction_read_only = off'));
    });
    await t.test('too old', async (t) => {
      // A server that says so: an old one is not at hand.
      await admin.unsafe(`create schema old;
        create function old.current_setting(name text) returns text language sql
          as $$ select case name when 'server_version_num' then '140011' else '14.11' end $$`);
      await set(admin, url, 'search_path = old, pg_catalog, public');
      const line = /^DATABASE_URL: PostgreSQL 15 or later is needed, and this is 14\.11\./;
      await holdThrown(t, [['14', own, line]], { alsoCommand: true });
    });
  }),
);

/** A server that offers TLS as PostgreSQL does, and says no more. */
async function startSelfSigned(t: Lifetime): Promise<number> {
  const { certificatePem: cert, privateKeyPem: key } = await createCertificate('127.0.0.1');
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('S');
      new TLSSocket(socket, { isServer: true, cert, key }).on('error', () => undefined);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Sets a setting of the database that a URL names, for the connections to come. */
const set = (sql: Pick<SqlPool, 'unsafe'>, url: string, setting: string) =>
  sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set ${setting}`);
