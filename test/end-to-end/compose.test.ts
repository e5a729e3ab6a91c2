/**
 * config/compose.yaml and the Dockerfile, without Docker: what they name exists, nothing is reached
 * from elsewhere, and their commands and settings, run as processes of this machine in the order of
 * `depends_on`, end in a push that arrives.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import type { Test } from 'tap';
import t from 'tap';
import { parse } from 'yaml';
import { readConfig, schema } from '../../src/app/config.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { runCommand, startEngine, startSimulatorProcess } from '../support/processes.ts';
import { freePorts } from '../support/programs.ts';
import { startRedis, withRedis } from '../support/redis-server.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CONFIG = join(ROOT, 'config');

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly restart?: string;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const compose = parse(readFileSync(join(CONFIG, 'compose.yaml'), 'utf8'), {
  merge: true,
}) as Compose;
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);

const [, build = '', run = ''] = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split(/^FROM /m);

/** Runs the image's health check; answers its exit code. */
function imageHealth(environment: Readonly<Record<string, string>>): number | null {
  const command = JSON.parse(/^HEALTHCHECK .*\\\n\s*CMD (.+)$/m.exec(run)?.[1] ?? '[]') as string[];
  return spawnSync(process.execPath, command.slice(1), { env: environment }).status;
}

/** The secrets of this file, and no others: those that `config/.env` must have. */
const SECRETS: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'abcdef0123456789',
  SECRET_KEY: 'a secret for tests only, long enough',
};

/** `${NAME:?…}` and `${NAME:-…}` as compose replaces them. */
const interpolate = (text: string): string =>
  text
    .replace(/\$\{(\w+):\?[^}]*\}/g, (_, name: string) => SECRETS[name] ?? `no ${name}`)
    .replace(/\$\{(\w+):-([^}]*)\}/g, (_, name: string, otherwise) => SECRETS[name] ?? otherwise);

t.test('every setting is one of the engine, and they make a configuration', async (t) => {
  const { cert } = await generate([{ name: 'commonName', value: 'simulator' }]);
  const certificate = join(temporaryDirectory(t, { 'certificate.pem': cert }), 'certificate.pem');
  t.ok(ours.length > 0);
  for (const [name, { environment = {} }] of ours) {
    const unknown = Object.keys(environment).filter((key) => !(key in schema.shape));
    t.same(unknown, [], `${name} sets what exists`);
    if (environment['DATABASE_URL'] === undefined) continue;
    const settings = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [key, interpolate(value)]),
    );
    const read = readConfig({ ...settings, PROVIDER_CA_FILE: certificate });
    t.match(read, { ok: true }, `${name}'s settings are valid`);
  }
});

t.test('what it names exists, and only this machine reaches it', (t) => {
  const published: string[] = [];
  for (const [name, service] of services) {
    for (const port of service.ports ?? []) {
      t.match(port, /^127\.0\.0\.1:\d+:\d+$/, `${name} on loopback`);
      published.push(port.split(':')[1] ?? '');
    }
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':');
      if (!source.startsWith('.')) t.ok(source in compose.volumes, `${name}: volume ${source}`);
      else t.ok(existsSync(join(CONFIG, source)), source);
    }
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const { restart, healthcheck } = compose.services[other] ?? {};
      if (condition === 'service_healthy') t.ok(healthcheck?.test, `${other} has a health check`);
      else t.equal(restart, 'no', `${other} ends`);
    }
    const { healthcheck, restart } = service;
    t.ok(restart === 'unless-stopped' || healthcheck?.disable, `${name} is started again`);
    if (service.build === undefined) t.match(service.image, /^\w+:\d+-bookworm$/);
    else t.ok(existsSync(join(CONFIG, service.build.context, 'Dockerfile')));
  }
  t.same(published, [...new Set(published)], 'no port twice');
  t.equal(services.filter(([name]) => name.startsWith('engine-')).length, 2);
  t.end();
});

t.test('the image: from what its context has, not as root, with a health check', (t) => {
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  const copied = [...build.matchAll(/^COPY (.+) \S+$/gm)].flatMap((match) =>
    (match[1] ?? '').split(' '),
  );
  t.ok(copied.length > 3);
  for (const path of copied) {
    t.ok(existsSync(join(ROOT, path)), path);
    t.notOk(ignored.includes(path.split('/')[0] ?? ''), `${path} is in the context`);
  }
  for (const copied of ['COPY src/patches', 'COPY src/app/apply-patches.mjs']) {
    t.ok(build.includes(copied));
    t.ok(build.indexOf(copied) < build.indexOf('RUN npm ci'), `${copied}: npm ci needs it`);
  }
  t.match(run, /^USER node$/m);
  t.equal(imageHealth({ PORT: '1' }), 1, 'nobody is there');
  t.end();
});

t.test('its commands and settings end in a push that arrives', async (t) => {
  await withStoresOfBothKinds(t, async (t, url) => {
    const redis = await startRedis(t, redisFlags());
    const dataDir = temporaryDirectory(t);
    const ports = await freePorts(4);
    const here = (text: string): string =>
      interpolate(text)
        .replace(/\b944(\d)$/, (_, digit: string) => String(ports[Number(digit) - 3]))
        .replace(/\bsimulator(?=:|$)/, 'localhost')
        .replace(/^\/data\b|(?<==)\/data\b/, dataDir);
    const settingsOf = (name: string) => ({
      ...Object.fromEntries(
        Object.entries(compose.services[name]?.environment ?? {}).map(([key, value]) => [
          key,
          here(value),
        ]),
      ),
      DATABASE_URL: url,
      REDIS_URL: redis.url,
    });
    const commandOf = (name: string) => (compose.services[name]?.command ?? []).map(here);

    const [, ...flags] = commandOf('simulator');
    const simulator = await startSimulatorProcess(t, flags);
    const health = compose.services['simulator']?.healthcheck?.test
      ?.at(-1)
      ?.replace('9446', String(ports[3]));
    t.equal(spawnSync(process.execPath, ['-e', health ?? '']).status, 0, 'it is healthy');

    const setup = () => runCommand(t, commandOf('setup'), settingsOf('setup'));
    const { code, output } = await setup();
    t.equal(code, 0, output);
    t.equal((await setup()).output, output, 'again: the same');
    const engines: EngineProcess[] = [];
    for (const name of ['engine-1', 'engine-2']) {
      engines.push(await startEngine(t, temporaryDirectory(t), settingsOf(name)));
    }
    const [first, second] = engines.map(({ baseUrl }) => baseUrl);
    t.notMatch(engines[0]?.output(), /Redis (cannot|does not)/, 'Redis is as it should be');
    t.equal(imageHealth({ PORT: new URL(first ?? '').port }), 0);
    const tls = {
      TLS_CERT_FILE: join(dataDir, 'certificate.pem'),
      TLS_KEY_FILE: join(dataDir, 'certificate.key'),
    };
    const secure = await startEngine(t, temporaryDirectory(t), {
      ...settingsOf('engine-1'),
      ...tls,
    });
    t.equal(imageHealth({ PORT: new URL(secure.baseUrl).port, ...tls }), 0, 'also over TLS');

    const lines = /^ {2}(curl .+)\n {2}(job=.+)\n {2}(.+)$/m.exec(output)?.slice(1) ?? [];
    const [reg = '', push = '', status = ''] = lines;
    const paste = (text: string, base = ''): string => {
      const script = text.replaceAll('http://127.0.0.1:8080', base);
      return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim();
    };
    t.equal(paste(reg, first), 'OK');
    const arrives = async (message: string) => {
      const job = paste(push, first);
      const rows = await until(message, () => {
        const answer = paste(`job=${job}; ${status.replace(/^sleep 1; /, '')}`, second);
        const read = JSON.parse(answer) as { state: string; successCount: number }[];
        return read.every(({ state }) => state === 'FINISHED') ? read : null;
      });
      t.equal(
        rows.reduce((sum, { successCount }) => sum + successCount, 0),
        1,
        message,
      );
    };
    await arrives('pushed');

    await simulator.end('SIGKILL');
    await startSimulatorProcess(t, flags);
    await arrives('pushed after a restart of the simulator');
  });
});

/** It starts with config/redis.conf, as the service does; on loopback. */
function redisFlags(): readonly string[] {
  return (compose.services['redis']?.command ?? [])
    .slice(2)
    .map((flag) => (flag === '*' ? '127.0.0.1' : flag));
}

function withStoresOfBothKinds(
  t: Test,
  body: (t: Test, databaseUrl: string) => Promise<void>,
): Promise<void> {
  return withPostgres(t, (t, url) => withRedis(t, (t) => body(t, url)));
}
