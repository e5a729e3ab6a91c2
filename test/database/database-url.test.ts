/** URLs as libpq takes them; the examples are of its documentation, and of clusters of Patroni. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  describePlace,
  driverOptionsOf,
  readDatabaseUrl,
} from '../../src/database/database-url.ts';
import { connect } from '../../src/database/sql.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const placeOf = (url: string) => {
  const read = readDatabaseUrl(url);
  if (!read.ok) throw new Error(read.fault);
  return read.place;
};

t.test('hosts, sockets, users, passwords', (t) => {
  const several = (session: string | null, ...servers: object[]) => ({
    servers,
    session,
    socketPath: null,
  });
  const one = (host: string, port = 5_432) => several(null, { host, port });
  const socket = (socketPath: string) => ({ servers: [], socketPath });
  const [a, b] = [
    { host: 'a', port: 5_432 },
    { host: 'b', port: 5_433 },
  ];
  const cases: Readonly<Record<string, object>> = {
    'postgresql://': { servers: [], socketPath: null, user: null, database: null },
    'postgres://db': { ...one('db'), database: null, tls: null },
    'postgres://db:5433/news': { ...one('db', 5_433), database: 'news' },
    'postgres://u:p%40%2F@db/n%20s': { ...one('db'), user: 'u', password: 'p@/', database: 'n s' },
    'postgres://u:p@ss#w@db/news': { ...one('db'), user: 'u', password: 'p@ss#w' },
    'postgres://[2001:db8::1]:5433/news': one('2001:db8::1', 5_433),
    'postgres:///news?host=/run/postgresql': {
      ...socket('/run/postgresql/.s.PGSQL.5432'),
      database: 'news',
    },
    'postgres://u@/news?host=/run/postgresql&port=5433': {
      ...socket('/run/postgresql/.s.PGSQL.5433'),
      user: 'u',
    },
    'postgres://%2Frun%2Fpostgresql/news': socket('/run/postgresql/.s.PGSQL.5432'),
    'postgres://localhost/news?host=db&port=6000': one('db', 6_000),
    'postgres:///?dbname=news&user=u&password=s%26t&hostaddr=10.0.0.1&host=db': {
      ...one('10.0.0.1'),
      user: 'u',
      password: 's&t',
      database: 'news',
    },
    'postgres://db/news?target_session_attrs=read-write': one('db'),
    'postgres://u@a,b:5433/news?target_session_attrs=primary': several('primary', a, b),
    'postgres://a,b:5433/news': several('read-write', a, b),
    'postgres:///news?host=a,b&port=5432,5433&target_session_attrs=any': several(
      'read-write',
      a,
      b,
    ),
    'postgres://:5433/news?host=a,::1': several(
      'read-write',
      { host: 'a', port: 5_433 },
      { host: '::1', port: 5_433 },
    ),
    'postgres://db/news?application_name=x&keepalives_idle=5&gssencmode=disable': { settings: {} },
    'postgres://db/news?user=publisher@corp': { user: 'publisher@corp' },
    'postgres://db/news?connect_timeout=3&options=-c%20work_mem%3D8MB&statement_timeout=5000': {
      connectTimeoutSeconds: 3,
      settings: { options: '-c work_mem=8MB', statement_timeout: '5000' },
    },
  };
  for (const [url, expected] of Object.entries(cases)) t.match(placeOf(url), expected, url);
  t.end();
});

t.test('what cannot be done is named, and no password', (t) => {
  const cases: Readonly<Record<string, RegExp>> = {
    'host=db dbname=news password=geheim': /^must be a URL as postgres:/,
    'postgres://u:geheim@db:port/news': /^must be a URL as postgres:/,
    'postgres://u:geheim@db:70000/news': /^must be a URL as postgres:/,
    'postgres://u:100%geheim@db/news': /a % in it is %25/,
    'postgres://u:a@b/geheim@db/news': /percent-encoded: @ is %40/,
    'postgres://u:a/geheim@db/news': /percent-encoded: @ is %40/,
    'postgres://u:a?geheim@db/news': /percent-encoded: @ is %40/,
    'postgres://u:geheim@a/news?target_session_attrs=standby': /target_session_attrs read-write/,
    'postgres://u:geheim@a/news?target_session_attrs=toString': /target_session_attrs read-write/,
    'postgres:///news?host=a,b&hostaddr=10.0.0.1': /^names 2 hosts and 1 address/,
    'postgres://u:geheim@db/news?sslmode=yes': /an sslmode that is none of disable, allow/,
    'postgres://u:geheim@db/news?sslrootcert=/x.pem': /a certificate, and no sslmode/,
    'postgres://u:geheim@db/news?service=x': /has service, which is not known here/,
    'postgres://u:geheim@db/news?channel_binding=require': /asks for channel_binding/,
    'postgres:///news?host=/run/postgresql,db': /several places, one of them a socket/,
    'postgres://u:geheim@a,b/news?port=1,2,3': /^names 2 hosts and 3 ports/,
    'postgres://u:geheim@a,/news': /^must be a URL as postgres:/,
  };
  for (const [url, fault] of Object.entries(cases)) {
    const read = readDatabaseUrl(url);
    t.match(read, { ok: false, fault }, url);
    t.notMatch(JSON.stringify(read), /geheim/);
  }
  t.end();
});

t.test('TLS', (t) => {
  const ca = join(temporaryDirectory(t), 'ca.pem');
  writeFileSync(ca, 'the authority');
  const ssl = (query: string) => driverOptionsOf(placeOf(`postgres://db/n?${query}`)).ssl;
  t.equal(ssl(''), undefined);
  t.equal(ssl('sslmode=disable'), false);
  t.equal(ssl('sslmode=prefer'), 'prefer');
  t.equal(ssl('sslmode=allow'), 'prefer');
  t.match(ssl('sslmode=require'), { rejectUnauthorized: false });
  t.match(ssl('ssl=require'), { rejectUnauthorized: false });
  t.match(ssl(`sslmode=require&sslrootcert=${ca}`), { rejectUnauthorized: true });
  const full = ssl(`sslmode=verify-full&sslrootcert=${ca}`);
  t.match(full, { rejectUnauthorized: true, ca: Buffer.from('the authority') });
  t.notOk(Object.hasOwn(Object(full), 'checkServerIdentity'), 'the name is checked');
  t.ok(Object.hasOwn(Object(ssl('sslmode=verify-ca')), 'checkServerIdentity'));
  t.end();
});

t.test('told without the password', (t) => {
  t.equal(describePlace('postgres://u:geheim@db/news'), 'u@db/news');
  t.equal(describePlace('postgres://[::1]:2/news?password=geheim'), '[::1]:2/news');
  t.equal(
    describePlace('postgres:///news?host=/run/postgresql'),
    '/run/postgresql/.s.PGSQL.5432/news',
  );
  t.equal(describePlace('postgres://u:geheim@a,b:5433/news'), 'u@a,b:5433/news');
  t.equal(describePlace('geheim'), 'the database');
  t.end();
});

t.test('a server by its socket', (t) =>
  withPostgres(t, async (t, url) => {
    const { servers, user } = placeOf(url);
    const ask = async (asked: string) => {
      const sql = connect({ kind: 'postgres', url: asked }, 1);
      try {
        const [row] = await sql<{ folder: string }[]>`
          select current_setting('unix_socket_directories') as folder`;
        return row?.folder ?? '';
      } finally {
        await sql.end();
      }
    };
    const folder = await ask(url);
    const query = new URLSearchParams({
      host: folder,
      port: String(servers[0]?.port),
      user: user ?? '',
    });
    t.equal(await ask(`postgres://${new URL(url).pathname}?${query}`), folder);
  }),
);
