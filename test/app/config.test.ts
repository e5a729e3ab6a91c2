/**
 * The configuration: the example has the defaults, and a wrong value is a sentence that names its
 * variable.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  mistypedSettings,
  readConfig,
  schema,
  settingsWithoutDatabase,
} from '../../src/app/config.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', '..', 'config', 'example.env');
/** A line `#NAME=default`. */
const ENTRY = /^#(?<name>[A-Z_]+)=(?<value>.*)$/gm;

t.test('each value in config/example.env is the default of its variable', (t) => {
  const entries = [...readFileSync(EXAMPLE, 'utf8').matchAll(ENTRY)].map((match) => match.groups);
  t.same(
    entries.map((entry) => entry?.['name']),
    Object.keys(schema.shape),
  );
  const defaults = readConfig({});
  for (const { name = '', value } of entries.map((entry) => entry ?? {})) {
    t.same(readConfig({ [name]: value }), defaults, name);
  }
  t.end();
});

t.test('a wrong value is a sentence that names its variable', (t) => {
  const wrong: Readonly<Record<string, string>> = {
    PORT: '99999',
    DATABASE_URL: 'mysql://somewhere/db',
    SECRET_KEY: 'short',
    METRICS_TOKEN: 'short',
    DEMO: 'maybe',
    WORKERS: '0',
    LOG_LEVEL: 'loud',
    APNS_ORIGIN: 'http://plain.example',
    CHUNK_LEASE_MS: '1',
    PROVIDER_CA_FILE: '/does/not/exist.pem',
    TLS_CERT_FILE: '/does/not/exist.pem',
    TRUSTED_PROXIES: 'localhost',
  };
  for (const [name, value] of Object.entries(wrong)) {
    const result = readConfig({ [name]: value });
    if (result.ok) {
      t.fail(`${name}=${value} was taken`);
      continue;
    }
    t.match(result.faults[0], new RegExp(`^${name}: .+\\.$`), `${name}=${value}`);
  }
  t.end();
});

t.test('nobody signs up unless the operator says so', (t) => {
  t.match(readConfig({}), { ok: true, config: { SIGN_UP: 'off' } });
  for (const SIGN_UP of ['open', 'invitation'] as const) {
    t.match(readConfig({ SIGN_UP }), { ok: true, config: { SIGN_UP } });
  }
  t.match(readConfig({ SIGN_UP: 'on' }), {
    ok: false,
    faults: ['SIGN_UP: must be off, open or invitation, not on.'],
  });
  t.end();
});

t.test('a number is its digits, and nothing that only JavaScript takes for one', (t) => {
  for (const PORT of [' ', '0x50', '8e3', '-1', '80.0']) {
    t.match(readConfig({ PORT }), { ok: false, faults: [/^PORT: must be a whole number/] }, PORT);
  }
  t.match(readConfig({ PORT: '08080' }), { ok: true, config: { PORT: 8_080 } });
  t.end();
});

t.test('DATABASE_URL names the scheme that is wrong, and nothing else of it', (t) => {
  const faultOf = (DATABASE_URL: string): string => {
    const result = readConfig({ DATABASE_URL, SECRET_KEY: 'x'.repeat(32) });
    return result.ok ? '' : result.faults.join(' ');
  };
  const mysql = faultOf('mysql://me:hidden@somewhere/db');
  t.match(mysql, /^DATABASE_URL: must begin with postgres:\/\/, not mysql:\/\/: .*PostgreSQL/);
  t.notMatch(mysql, /hidden|somewhere/);
  t.match(faultOf('me:hidden@db.internal:5432/tagcast'), /must be a URL as postgres:\/\/user/);
  t.notMatch(faultOf('me:hidden@db.internal:5432/tagcast'), /hidden/);
  t.equal(faultOf('postgresql://me:hidden@somewhere/db'), '');
  t.end();
});

t.test('a real database needs a secret key', (t) => {
  const result = readConfig({ DATABASE_URL: 'postgres://somewhere/db' });
  t.match(result, { ok: false, faults: [/^SECRET_KEY: /] });
  t.end();
});

t.test('the origins are origins', (t) => {
  const result = readConfig({ APNS_ORIGIN: 'https://127.0.0.1:9443/ignored/path' });
  t.match(result, { ok: true, config: { APNS_ORIGIN: 'https://127.0.0.1:9443' } });
  t.end();
});

t.test('CORS_ORIGINS are as browsers write them, or refused', (t) => {
  const read = (CORS_ORIGINS: string) => readConfig({ CORS_ORIGINS });
  const origins = 'https://App.Example.com/, http://localhost:3000, capacitor://localhost, *';
  t.match(read(origins), {
    ok: true,
    config: {
      CORS_ORIGINS: [
        'https://app.example.com',
        'http://localhost:3000',
        'capacitor://localhost',
        '*',
      ],
    },
  });
  t.match(read('https://app.example.com:443'), {
    config: { CORS_ORIGINS: ['https://app.example.com'] },
  });
  for (const bad of ['app.example.com', 'https://app.example.com/page', 'localhost:3000', '//x']) {
    t.match(read(bad), { ok: false, faults: [/^CORS_ORIGINS: must be \* or origins as/] }, bad);
  }
  t.end();
});

t.test('a variable that is nearly the name of a setting', (t) => {
  t.same(mistypedSettings({ DATABSE_URL: 'postgres://db/news', CORS_ORIGIN: '*', NODE_ENV: 'x' }), [
    ['DATABSE_URL', 'DATABASE_URL'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
  ]);
  t.same(
    mistypedSettings({ DATABASE_URI: 'a', DATABASE_URL: 'b' }),
    [],
    'the setting is there too',
  );
  t.end();
});

t.test('settings of a deployment on the embedded database', (t) => {
  const SECRET_KEY = '12345678901234567890123456789012';
  const doubtful = (environment: NodeJS.ProcessEnv): readonly string[] => {
    const read = readConfig(environment);
    return read.ok ? settingsWithoutDatabase(read.config) : read.faults;
  };
  t.same(doubtful({ SECRET_KEY }), ['SECRET_KEY']);
  t.same(doubtful({ SECRET_KEY, DEMO: '1' }), [], 'it is meant so');
  t.same(doubtful({ SECRET_KEY, DATABASE_URL: 'postgres://db/news' }), []);
  t.same(doubtful({}), []);
  t.end();
});
