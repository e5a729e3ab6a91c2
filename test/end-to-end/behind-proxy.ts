/**
 * Two engines behind a proxy, with the file for it in config/: a rolling restart and a kill -9
 * under load, and each request gets its right answer.
 */

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Certificate } from '../../packages/simulator/src/server/certificate.ts';
import { createCertificate } from '../../packages/simulator/src/server/certificate.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { until } from '../support/poll.ts';
import type { Demo, EngineProcess } from '../support/processes.ts';
import { startEngine } from '../support/processes.ts';
import { freePorts } from '../support/programs.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const CALLERS = 4;
/** Between two requests of a caller. */
const PAUSE_MS = 10;
/** The other requests of a caller are registrations. */
const PUSH_EVERY = 10;
/** Requests between two steps of the restart: those that follow meet engines that are up. */
const ANSWERS_BETWEEN = 60;

/** Starts a proxy with the project's own file for it, on free ports, before these engines. */
export type StartProxy = (
  t: Lifetime,
  enginePorts: readonly number[],
  certificate: Certificate,
) => Promise<ProxyPorts>;

export interface ProxyPorts {
  readonly plainPort: number;
  readonly tlsPort: number;
}

export async function holdBehind(t: Test, startProxy: StartProxy): Promise<void> {
  await withPostgres(t, async (t, url) => {
    const dataDir = temporaryDirectory(t);
    const ports = await freePorts(2);
    const start = (port = 0, demo = '0'): Promise<EngineProcess> =>
      startEngine(t, dataDir, {
        DATABASE_URL: url,
        SECRET_KEY: 'a secret of the test behind nginx, long enough',
        DEMO: demo,
        WORKERS: '1',
        PORT: String(port),
        TRUSTED_PROXIES: '127.0.0.1',
      });
    const first = await start(ports[0], '1');
    const demo = first.demo();
    const engines = [first, await start(ports[1])];
    const certificate = await createCertificate('127.0.0.1');
    const { plainPort, tlsPort } = await startProxy(t, ports, certificate);
    const site = siteAt(t, tlsPort, certificate);

    const plain = await fetch(`http://127.0.0.1:${plainPort}/livez`, { redirect: 'manual' });
    t.equal(plain.status, 308);
    t.equal((await site.ask('GET', '/readyz')).status, 200);
    t.equal((await site.ask('GET', '/operator/v1/clients')).status, 403, 'operators stay inside');

    const load = startLoad(site, demo);
    const meanwhile = async (): Promise<void> => {
      const from = load.answers();
      await until('requests are answered', () =>
        load.answers() - from >= ANSWERS_BETWEEN ? true : null,
      );
    };
    await meanwhile();
    for (const index of engines.keys()) {
      await engines[index]?.end('SIGTERM');
      await meanwhile();
      engines[index] = await start(ports[index]);
      await meanwhile();
    }
    await engines[0]?.end('SIGKILL');
    await meanwhile();
    engines[0] = await start(ports[0]);
    await meanwhile();
    const { wrong, jobs } = await load.end();
    t.same(wrong, [], 'no other answer than the right one');

    const shown = await site.ask('GET', '/push-api/v3/demo/notifications?limit=1000', {
      token: demo.superUser.token,
    });
    const made = JSON.parse(shown.body) as readonly { readonly id: string }[];
    t.same(made.map(({ id }) => id).sort(), [...jobs].sort(), 'no push was made twice');

    const [job = ''] = jobs;
    const events = await site.ask('GET', `/push-api/v3/demo/notifications/${job}/events`, {
      token: demo.superUser.token,
    });
    t.match(events.body, /event: progress\n[\s\S]*event: end\n/);
  });
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Site {
  ask(method: string, path: string, how?: Asked): Promise<Answer>;
}

interface Asked {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The proxy as its callers see it, over TLS. */
function siteAt(t: Lifetime, port: number, { certificatePem }: Certificate): Site {
  const agent = new Agent({
    ca: certificatePem,
    keepAlive: true,
    maxSockets: CALLERS,
  });
  t.teardown(() => agent.destroy());
  return {
    async ask(method, path, { token, body, headers = {} } = {}) {
      const sent = request({
        agent,
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: {
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
      });
      sent.end(body === undefined ? undefined : JSON.stringify(body));
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      return { status: answer.statusCode ?? 0, body: await text(answer) };
    },
  };
}

interface Load {
  answers(): number;
  /** `wrong`: each other answer than the right one. `jobs`: of the pushes that were accepted. */
  end(): Promise<{ readonly wrong: readonly string[]; readonly jobs: readonly string[] }>;
}

/** Apps that register and a publisher that pushes, each on its connection. */
function startLoad(site: Site, demo: Demo): Load {
  const wrong: string[] = [];
  const jobs: string[] = [];
  let answers = 0;
  let isEnded = false;
  const register = async (device: string): Promise<void> => {
    const { status, body } = await site.ask('POST', '/push-api/reg', {
      token: demo.apiUser.token,
      body: { appId: demo.appId, platformId: 3, tagId: demo.tagIds.slice(0, 1), deviceId: device },
    });
    if (status !== 200 || body !== 'OK') wrong.push(`reg: ${status} ${body}`);
  };
  const push = async (key: string): Promise<void> => {
    const { status, body } = await site.ask('POST', '/push-api/push', {
      token: demo.superUser.token,
      body: { tagIds: demo.tagIds.slice(1, 2), payload: { title: 'goal!' } },
      headers: { 'Idempotency-Key': key },
    });
    if (status === 200) jobs.push(body.trim());
    else wrong.push(`push: ${status} ${body}`);
  };
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    for (let number = 0; !isEnded; number += 1) {
      const name = `${caller}-${number}`;
      const asked = number % PUSH_EVERY === 0 ? push(name) : register(name);
      await asked.catch((error: unknown) => wrong.push(`${name}: ${String(error)}`));
      answers += 1;
      await sleep(PAUSE_MS);
    }
  });
  return {
    answers: () => answers,
    async end() {
      isEnded = true;
      await Promise.all(callers);
      return { wrong, jobs };
    },
  };
}
