/**
 * The real program with one thing wrong: exit code 1 and one line, which names the setting and
 * holds no secret and no stack.
 */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { createCertificate } from '../src/simulator/server/certificate.ts';
import type { SqlPool } from '../src/store/sql.ts';
import { connect } from '../src/store/sql.ts';
import { runCommand, startEngine } from './support/processes.ts';
import { startRedis, withRedis } from './support/redis-server.ts';
import { runHere } from './support/run-here.ts';
import { withPostgres } from './support/store.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

type Environment = Readonly<Record<string, string>>;
type Case = readonly [name: string, environment: Environment, line: RegExp];

const PASSWORD = 'Pa55-of-the-test';
const SECRET_KEY = 'K3y-of-the-test, which is long enough';
const STACK = /^ +at /m;
const COMMAND: readonly string[] = ['client', 'list'];

/** What it says, which has the form that every refusal has. */
async function refusal(
  t: Test,
  environment: Environment,
  args: readonly string[] = [],
): Promise<string> {
  return assertRefusal(t, await runCommand(t, args, { PORT: '0', ...environment }));
}

/** The same of a command that runs in this process. */
const refusalHere = async (t: Test, environment: Environment): Promise<string> =>
  assertRefusal(t, await runHere(COMMAND, environment));

function assertRefusal(
  t: Test,
  { code, output, errors }: Awaited<ReturnType<typeof runCommand>>,
): string {
  t.equal(code, 1, 'exit code');
  t.match(errors, /^[A-Z_]+: [^\n]+\.\n$/, 'one line, which begins with a setting');
  t.notMatch(output, STACK, 'no stack, nor in the log');
  for (const secret of [PASSWORD, SECRET_KEY]) t.notOk(output.includes(secret), 'no secret');
  return errors;
}

/**
 * Each of them; a command says the same; who debugs gets the stack, and the secrets no more than
 * others.
 */
async function holdThrown(t: Test, cases: readonly Case[], { alsoCommand = false } = {}) {
  for (const [name, environment, line] of cases) {
    await t.test(name, async (t) => {
      const said = await refusal(t, environment);
      t.match(said, line);
      const debugging = { PORT: '0', ...environment, LOG_LEVEL: 'debug' };
      // A command reports its faults by the same function as the service.
      const { code, output, errors } = await (alsoCommand
        ? runHere(COMMAND, debugging)
        : runCommand(t, [], debugging));
      t.equal(code, 1);
      t.ok(errors.startsWith(said), 'the same line first');
      t.match(errors, STACK, 'and the stack');
      t.notOk(output.includes(PASSWORD), 'no secret');
      if (alsoCommand) t.equal(await refusalHere(t, environment), said, 'of a command');
    });
  }
}

t.test('values that cannot be right', async (t) => {
  const files = temporaryDirectory(t, { 'text.pem': 'no certificate' });
  const [one, other] = await Promise.all([createCertificate('one'), createCertificate('other')]);
  const pair = temporaryDirectory(t, { crt: one.certificatePem, key: other.privateKeyPem });
  const missing = join(files, 'missing.pem');
  const text = join(files, 'text.pem');
  const database = `postgres://user:${PASSWORD}@127.0.0.1:1/news`;
  const cases: readonly Case[] = [
    ['a port', { PORT: 'abc' }, /^PORT: must be a whole number from 0 to 65535, not abc\./],
    [
      'a scheme',
      { DATABASE_URL: database.replace('postgres', 'mysql'), SECRET_KEY },
      /^DATABASE_URL: must begin with postgres:\/\/, not mysql:\/\/: /,
    ],
    ['no key', { DATABASE_URL: database }, /^SECRET_KEY: must be set/],
    ['a short key', { SECRET_KEY: 'short' }, /^SECRET_KEY: must have 32 .+openssl rand/],
    [
      "Redis' scheme",
      { DATABASE_URL: database, SECRET_KEY, REDIS_URL: `http://:${PASSWORD}@127.0.0.1` },
      /^REDIS_URL: must be a URL as redis:/,
    ],
    [
      'a certificate that is missing',
      { TLS_CERT_FILE: missing, TLS_KEY_FILE: join(pair, 'key') },
      /^TLS_CERT_FILE: cannot read .+missing\.pem \(ENOENT\)/,
    ],
    [
      'a certificate that is none',
      { TLS_CERT_FILE: text, TLS_KEY_FILE: join(pair, 'key') },
      /^TLS_CERT_FILE: .+text\.pem holds no PEM certificate/,
    ],
    [
      'a key that is none',
      { TLS_CERT_FILE: join(pair, 'crt'), TLS_KEY_FILE: text },
      /^TLS_KEY_FILE: .+text\.pem holds no PEM private key/,
    ],
    [
      'a key of another certificate',
      { TLS_CERT_FILE: join(pair, 'crt'), TLS_KEY_FILE: join(pair, 'key') },
      /^TLS_KEY_FILE: .+ is not the key of the first certificate/,
    ],
    [
      'a CA that is none',
      { PROVIDER_CA_FILE: text },
      /^PROVIDER_CA_FILE: .+text\.pem holds no PEM certificate/,
    ],
  ];
  for (const [name, environment, line] of cases) {
    await t.test(name, async (t) => {
      const said = await refusalHere(t, environment);
      t.match(said, line, 'of a command');
      // The settings are read in one place for all: the first case stands for the others.
      if (name !== cases[0]?.[0]) return;
      t.equal(await refusal(t, environment), said, 'of the service');
      t.equal(await refusal(t, environment, COMMAND), said, 'of a command as a process');
    });
  }
});

t.test('places that cannot be had', async (t) => {
  const directory = temporaryDirectory(t, { file: '' });
  const cases: Case[] = [
    ['a file', { DATA_DIR: join(directory, 'file') }, /^DATA_DIR: .+there is a file in its place/],
    [
      'below a file',
      { DATA_DIR: join(directory, 'file', 'data') },
      /^DATA_DIR: .+there is a file in its place/,
    ],
    [
      'a host that nobody knows',
      { DATA_DIR: join(directory, 'a'), HOST: 'nowhere.invalid' },
      /^HOST: nowhere\.invalid cannot be resolved/,
    ],
    [
      "another machine's address",
      { DATA_DIR: join(directory, 'a'), HOST: '192.0.2.1' },
      /^HOST: 192\.0\.2\.1 is not an address of this machine/,
    ],
  ];
  if (process.platform === 'linux') {
    const line = /^DATA_DIR: \/proc\/tagcast\/data: it cannot be created there/;
    cases.push(['no place for files', { DATA_DIR: '/proc/tagcast/data' }, line]);
  }
  await holdThrown(t, cases);
});

t.test('a port that is taken, before a database is made', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  t.teardown(() => holder.close());
  const { port } = holder.address() as { readonly port: number };
  const environment = { DATA_DIR: temporaryDirectory(t), PORT: String(port) };
  const line = new RegExp(`^PORT: ${port} is in use on 127\\.0\\.0\\.1`);
  await holdThrown(t, [['taken', environment, line]]);
  const { output } = await runCommand(t, [], environment);
  t.notMatch(output, 'opening the embedded database');
});

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

/** Of the database that a URL names, for the connections to come. */
const set = (sql: Pick<SqlPool, 'unsafe'>, url: string, setting: string) =>
  sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set ${setting}`);

await withRedis(t, (t) =>
  withPostgres(t, async (t, url) => {
    const store = { DATABASE_URL: url, SECRET_KEY };
    const redis = await startRedis(t, ['--maxmemory-policy', 'allkeys-lru']);
    const line = /^REDIS_URL: .+ has maxmemory-policy allkeys-lru.+noeviction/;
    await holdThrown(t, [['a Redis that would evict', { ...store, REDIS_URL: redis.url }, line]]);

    await t.test('a Redis that is away is no reason not to start', async (t) => {
      const away = { ...store, REDIS_URL: `redis://:${PASSWORD}@127.0.0.1:1` };
      const engine = await startEngine(t, temporaryDirectory(t), away);
      const ready = await fetch(`${engine.baseUrl}/readyz`);
      t.equal(ready.status, 200);
      t.same(await ready.json(), {
        status: 'ok',
        stores: { postgres: 'ok', redis: 'unavailable' },
      });
      t.match(engine.output(), 'Redis cannot be reached');
      t.notOk(engine.output().includes(PASSWORD), 'no secret');
      const { errors } = await runCommand(t, ['index', 'verify'], away);
      t.match(
        errors,
        /^REDIS_URL: Redis cannot be reached[^\n]+\n$/,
        'of the command that needs it',
      );
    });
  }),
);
