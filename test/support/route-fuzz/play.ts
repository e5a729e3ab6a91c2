/**
 * Asks every route of a service, validly first, then by many requests that are mutated out of valid
 * ones, several at a time; reports answers and lines of the log that must not be.
 */

import { Writable } from 'node:stream';
import type { Test } from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { readProviderCredential } from '../../../src/provider-credentials/provider-credentials.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { secrets } from '../api.ts';
import { Random } from '../http2/played/random.ts';
import { until } from '../poll.ts';
import type { Service } from '../service.ts';
import { startService } from '../service.ts';
import type { Heard } from './ask.ts';
import { ask, makeAgent } from './ask.ts';
import { bytesOf, mutated, targetOf } from './mutate.ts';
import type { Request } from './valid.ts';
import { BODIES, isKnown, nameOf, OPERATOR_TOKEN, validRequest } from './valid.ts';
import type { World } from './world.ts';
import { makeWorld } from './world.ts';

/** A world is soon used up: its tags are deleted, its credentials rotated. */
const REQUESTS_PER_WORLD = 100;
const CONNECTIONS = 6;
/** The length of a request in the report of a fault. */
const TOLD_LENGTH_MAX = 600;

/** Matches our tokens. Only a new one is shown, to its owner, and never kept on the way. */
const TOKEN = /tc[asknl]_[A-Za-z0-9]{20,}/;
const STACK = /(?:\n|\\n)\s+at .+:\d+:\d+|node:internal|\/node_modules\//;
/** A key, and not its first line alone, which a fault may name. */
const PEM = /-----BEGIN [A-Z ]+-----(?:\\n|\s)+[A-Za-z0-9+/=]{16}/;
/** They make others void, or are seldom allowed: each has a world of its own. */
const ENDS_THINGS =
  /^DELETE|\/(?:delete|rotate|cancel|replace|erase|probe|end-all|password|reset)\b|^POST \/console\/api\/session$/;

export async function fuzzRoutes(
  t: Test,
  store: Store,
  { requests, seed }: { readonly requests: number; readonly seed: number },
): Promise<void> {
  const log = new KeptLog();
  const environment = { TRUSTED_PROXIES: '127.0.0.1', SIGN_UP: 'open', OPERATOR_TOKEN };
  const service = await startService(t, store, environment, createLogger('debug', 'fuzz', log));
  const run = new Run(service, log, await secretsOf(service));
  t.teardown(() => run.agent.destroy());

  const { routes } = service.engine;
  const shared = await run.renew();
  for (const route of routes) {
    const world = ENDS_THINGS.test(nameOf(route)) ? await run.renew() : shared;
    const heard = await run.play(
      validRequest(route, world, () => ({})),
      world,
      nameOf(route),
    );
    if (isKnown(route, world))
      t.ok(heard && heard.status < 400, `${nameOf(route)}: ${tell(heard)}`);
  }

  const bodies = Object.values(BODIES);
  for (let begun = 0; begun < requests; begun += REQUESTS_PER_WORLD) {
    const random = new Random(seed + begun);
    const world = await run.renew();
    const plan = Array.from({ length: Math.min(REQUESTS_PER_WORLD, requests - begun) }, () => {
      const valid = validRequest(random.pick(routes), world, random.pick(bodies));
      return mutated(random, valid, world);
    });
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async (_, lane) => {
        for (let index = lane; index < plan.length; index += CONNECTIONS) {
          const request = plan[index];
          if (request === undefined) return;
          await run.play(request, world, `seed ${seed + begun}, request ${index}`);
        }
      }),
    );
  }
  t.comment(`${run.played} requests were answered ${JSON.stringify(run.answers)}`);
  t.same(run.faults, [], `of ${run.played} requests`);
  t.ok(run.played >= requests + routes.length);
  await until('the service is ready', async () =>
    (await fetch(`${service.engine.url}/readyz`)).status === 200 ? true : null,
  );
}

/** Secrets that no answer may have: the key of everything, and the providers' keys. */
async function secretsOf({ store, demo }: Service): Promise<readonly string[]> {
  const apns = await readProviderCredential(store.sql, secrets, demo.appId, 3);
  const fcm = await readProviderCredential(store.sql, secrets, demo.appId, 15);
  if (apns.kind !== 'opened' || fcm.kind !== 'opened') throw new Error('the demo has no accounts');
  return [
    'a secret of the tests, long enough',
    demo.superUser.token,
    demo.superUser.password,
    demo.apiUser.token,
    demo.apiUser.password,
    ...bodyLines(JSON.stringify(apns.credential)),
    ...bodyLines(JSON.stringify(fcm.credential)),
  ];
}

/** The lines of the PEM keys in it. */
const bodyLines = (json: string): readonly string[] =>
  json.split(String.raw`\n`).filter((line) => /^[A-Za-z0-9+/=]{40,}$/.test(line));

/** All lines of a log. */
class KeptLog extends Writable {
  #lines: string[] = [];

  override _write(line: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#lines.push(line.toString());
    done();
  }

  /** Those since the last call. */
  take(): readonly string[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }
}

class Run {
  readonly agent = makeAgent(CONNECTIONS);
  readonly faults: string[] = [];
  played = 0;
  /** How many answers had each status. */
  readonly answers: Record<number, number> = {};
  readonly #service: Service;
  readonly #log: KeptLog;
  readonly #secrets: readonly string[];
  #worlds = 0;

  constructor(service: Service, log: KeptLog, secrets: readonly string[]) {
    this.#service = service;
    this.#log = log;
    this.#secrets = secrets;
  }

  renew(): Promise<World> {
    this.#worlds += 1;
    return makeWorld(this.#service, `fuzz-${this.#worlds}`);
  }

  /** Null: there was no answer. */
  async play(request: Request, world: World, what: string): Promise<Heard | null> {
    this.played += 1;
    const heard = await ask(this.agent, this.#service.engine.url, request).catch(
      (error: unknown) => {
        this.#fault(request, what, String(error));
        return null;
      },
    );
    if (heard !== null) {
      this.answers[heard.status] = (this.answers[heard.status] ?? 0) + 1;
      for (const fault of this.#faultsOf(heard, world)) this.#fault(request, what, fault);
    }
    for (const line of this.#log.take()) {
      if (this.#isTelling(line, world) || TOKEN.test(line) || PEM.test(line)) {
        this.#fault(request, what, `the log has ${line}`);
      }
    }
    return heard;
  }

  #faultsOf(heard: Heard, world: World): readonly string[] {
    const { status, text, headers } = heard;
    const whole = `${JSON.stringify(headers)}\n${text}`;
    const isForOwner = status < 300 && headers['cache-control'] === 'no-store';
    const faults = [
      [status >= 500 && status !== 503, 'a failure'],
      [STACK.test(whole), 'a stack'],
      [PEM.test(whole) || this.#secrets.some((secret) => whole.includes(secret)), 'a secret'],
      [!isForOwner && this.#isTelling(whole, world), 'a password'],
      [!isForOwner && TOKEN.test(whole), 'a token'],
      [status >= 400 && text !== '' && !isProblem(heard), 'no problem document'],
      [(status === 429 || status === 503) && headers['retry-after'] === undefined, 'no wait told'],
    ] as const;
    return faults.flatMap(([isFault, name]) => (isFault ? [`${name}: ${tell(heard)}`] : []));
  }

  #isTelling(text: string, { passwords }: World): boolean {
    return passwords.some((password) => text.includes(password));
  }

  #fault(request: Request, what: string, fault: string): void {
    const body = bytesOf(request.body).toString('latin1').slice(0, TOLD_LENGTH_MAX);
    const headers = JSON.stringify(request.headers).slice(0, TOLD_LENGTH_MAX);
    const line = `${request.method} ${targetOf(request)}`.slice(0, TOLD_LENGTH_MAX);
    this.faults.push(`${what}: ${fault}\n  ${line}\n  ${headers}\n  ${body}`);
  }
}

const tell = (heard: Heard | null): string =>
  heard === null ? 'no answer' : `${heard.status} ${heard.text.slice(0, TOLD_LENGTH_MAX)}`;

function isProblem({ status, text, headers }: Heard): boolean {
  if (headers['content-type'] !== 'application/problem+json') return false;
  const problem = JSON.parse(text) as { readonly status?: unknown; readonly requestId?: unknown };
  return problem.status === status && typeof problem.requestId === 'string';
}
