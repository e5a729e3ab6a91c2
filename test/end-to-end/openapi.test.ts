/**
 * The document of the interface is true: a real engine takes its examples, answers as it says, and
 * has the routes that it names and no others.
 */

import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import { PLATFORMS } from '../../packages/std/src/platforms.ts';
import type { OpenApiDocument } from '../../src/api/openapi/document.ts';
import { post } from '../support/client.ts';
import { DocumentCheck } from '../support/document-check.ts';
import { OPERATOR_TOKEN, People } from '../support/people.ts';
import { until } from '../support/poll.ts';
import type { Demo, EngineProcess } from '../support/processes.ts';
import { startEngine } from '../support/processes.ts';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  /** The example of a part of the path. */
  readonly example?: unknown;
  /** The example of any other parameter. */
  readonly schema: { readonly examples?: readonly unknown[] };
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        { readonly example: unknown; readonly schema: Readonly<Record<string, unknown>> }
      >
    >;
  };
}

type Ids = Readonly<Record<string, string | number>>;

/** A client may have a provider asked once a second. */
const CHECK_PAUSE_MS = 1_100;

/** Jobs that only a provider's fault makes: here there are none. */
const OF_NOTHING = new Set(['releaseHeldDeletions', 'discardHeldDeletions', 'releaseParkedParts']);

/** Said of a field or parameter that the server does not know. */
const UNKNOWN = /has no field|is not a field|does not exist in this version|is unknown/;

t.test('the document is true', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const engine = await startEngine(t, dataDir, {
    WORKERS: '1',
    SIGN_UP: 'open',
    OPERATOR_TOKEN,
  });
  const demo = engine.demo();
  const { baseUrl } = engine;
  const served = await fetch(`${baseUrl}/openapi.json`, {
    headers: { Origin: 'https://a.example' },
  });
  t.equal(served.status, 200, 'it is there for everybody');
  t.equal(served.headers.get('access-control-allow-origin'), '*', 'and for every page');
  const document = (await served.json()) as OpenApiDocument;
  const operations = operationsOf(document);
  const check = new DocumentCheck(document);
  const people = await People.join(t, engine);
  const ids = { ...(await prepare(baseUrl, demo)), ...(await people.prepare()) };

  await t.test('an ETag tells that it is unchanged', async (t) => {
    const etag = served.headers.get('etag') ?? '';
    const again = await fetch(`${baseUrl}/openapi.json`, { headers: { 'If-None-Match': etag } });
    t.equal(again.status, 304);
    t.equal(await again.text(), '');
  });

  await t.test('each path has the methods that the document says', async (t) => {
    for (const [path, item] of Object.entries(document.paths)) {
      const asked = await fetch(baseUrl + path.replaceAll(/[{}]/g, ''), { method: 'OPTIONS' });
      const allowed = (asked.headers.get('allow') ?? '').split(', ');
      const documented = Object.keys(item).map((method) => method.toUpperCase());
      const head = documented.includes('GET') ? ['HEAD'] : [];
      t.same(allowed.sort(), [...documented, ...head, 'OPTIONS'].sort(), path);
    }
  });

  await t.test('each example is taken, and answered as the document says', async (t) => {
    for (const operation of operations) {
      const { method, path, operationId } = operation;
      if (operationId === 'probeProviderCredential') await sleep(CHECK_PAUSE_MS);
      const answer = await ask(engine, demo, people, operation, ids[operationId]);
      people.afterOperation(operation);
      const body = await answer.text();
      const isGood = OF_NOTHING.has(operationId) ? answer.status === 404 : answer.status < 300;
      t.ok(isGood, `${operationId}: ${answer.status} ${body.slice(0, 200)}`);
      const contentType = answer.headers.get('content-type') ?? '';
      const fault = check.answerFault({ method, path, status: answer.status, contentType, body });
      t.equal(fault, null, `${operationId}: ${body.slice(0, 200)}`);
    }
  });

  await t.test('each field and parameter that it names is known', async (t) => {
    for (const operation of operations) {
      for (const name of fieldsOf(document, operation)) {
        const said = await faultsOf(engine, demo, people, operation, ids, { [name]: null });
        t.notMatch(said, UNKNOWN, `${operation.operationId} has a field ${name}`);
      }
      for (const { name, in: where } of operation.parameters) {
        if (where !== 'query') continue;
        const said = await faultsOf(engine, demo, people, operation, ids, undefined, `?${name}=`);
        t.notMatch(said, UNKNOWN, `${operation.operationId} has a parameter ${name}`);
      }
    }
    await othersAreRefused(t, document, operations, (operation, body) =>
      faultsOf(engine, demo, people, operation, ids, body),
    );
  });

  t.equal(await engine.end('SIGTERM'), 0);
});

/** Or else the test before would hold whatever the document says. */
async function othersAreRefused(
  t: Test,
  document: OpenApiDocument,
  operations: readonly Operation[],
  faults: (operation: Operation, body: unknown) => Promise<string>,
): Promise<void> {
  const strict = operations.filter((operation) => fieldsOf(document, operation).length > 0);
  t.ok(strict.length > 10, 'many bodies are strict');
  for (const operation of strict) {
    t.match(await faults(operation, { surelyUnknown: 1 }), UNKNOWN, operation.operationId);
  }
}

function operationsOf({ paths }: OpenApiDocument): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, operation]) =>
        ({ ...operation, method: method.toUpperCase(), path }) as unknown as Operation,
    ),
  );
}

/** The fields of a body that takes no others. */
function fieldsOf(document: OpenApiDocument, { requestBody }: Operation): readonly string[] {
  const schema = requestBody?.content['application/json']?.schema ?? {};
  const { $ref } = schema;
  const name = typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : '';
  const found = name === '' ? schema : document.components['schemas']?.[name];
  const { additionalProperties, properties } = found as {
    readonly additionalProperties?: unknown;
    readonly properties?: object;
  };
  return additionalProperties === false ? Object.keys(properties ?? {}) : [];
}

/**
 * Prepares the examples: returns for each operation the values that take the example's place, in
 * its path or else in its body.
 */
async function prepare(baseUrl: string, demo: Demo): Promise<Readonly<Record<string, Ids>>> {
  const make = async (path: string, body: unknown): Promise<Ids> => {
    const answer = await post(baseUrl + path, demo.superUser.token, body);
    const { id } = (await answer.json()) as { readonly id: string | number };
    return { id };
  };
  const admin = '/push-admin-api/v3/demo';
  const later = { tagIds: [2], payload: { title: 'later' }, sendAt: '2029-01-01T12:00:00Z' };
  const job = (): Promise<Ids> => make('/push-api/v3/demo/notifications', later);
  const shown = await job();
  const paused = await job();
  const ended = await job();
  await post(
    `${baseUrl}/push-api/v3/demo/notifications/${ended['id']}/cancel`,
    demo.superUser.token,
    {},
  );
  /** A job to this device, that has ended. */
  const sentTo = async (deviceId: string): Promise<Ids> => {
    const { id: tagId } = await make(`${admin}/tags`, { name: `Of ${deviceId}` });
    const device = { appId: demo.appId, platformId: PLATFORMS.apns, deviceId, tagId };
    await post(`${baseUrl}/push-api/reg`, demo.apiUser.token, device);
    const push = { tagIds: [tagId], payload: { title: 'sent' } };
    const made = await make('/push-api/v3/demo/notifications', push);
    await until('it has ended', async () => {
      const answer = await fetch(`${baseUrl}/push-api/v3/demo/notifications/${made['id']}`, {
        headers: { Authorization: `Bearer ${demo.superUser.token}` },
      });
      const { finishedAt } = (await answer.json()) as { readonly finishedAt?: number };
      return finishedAt ?? null;
    });
    return made;
  };
  const app = (name: string): Promise<Ids> =>
    make(`${admin}/apps`, { name, platformIds: [PLATFORMS.apns] });
  const other = await app('Other');
  const device = { deviceId: 'cd'.repeat(32) };
  await post(`${baseUrl}/push-api/reg`, demo.apiUser.token, {
    ...device,
    appId: demo.appId,
    platformId: PLATFORMS.apns,
    tagId: 2,
  });
  const many = Array.from({ length: 1_000 }, (_, n) => `device ${n}`);
  const list = `${admin}/apps/${demo.appId}/platforms/${PLATFORMS.apns}/subscriptions`;
  const operation = await make(list, { action: 'subscribe', tagIds: [2], deviceIds: many });
  // It comes after that one, which takes half a second: it is cancelled before its turn.
  const cancelled = await make(list, { action: 'unsubscribe', tagIds: [2], deviceIds: ['x'] });
  await post(`${baseUrl}${admin}/operations/${cancelled['id']}/cancel`, demo.superUser.token, {});
  const webhook = (): Promise<Ids> =>
    make(`${admin}/webhooks`, { url: 'https://cms.example/hook', isEnabled: false });
  // The examples name the first.
  await webhook();
  await make(`${admin}/segments`, { name: 'doomed', expression: '*' });
  // The client of the examples is deleted before these.
  const ofDemo = { clientId: 'demo' };
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const privateKey = String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return {
    getStatus: shown,
    getNotification: shown,
    listenToNotification: ended,
    replaceNotification: await job(),
    // Its name is none of Apple's.
    retryNotification: await sentTo('no-token'),
    correctNotification: await sentTo('a1'.repeat(32)),
    retractNotification: await sentTo('a2'.repeat(32)),
    deletePublishedApp: await app('Doomed'),
    deleteApp: await app('Doomed too'),
    deleteProviderCredential: other,
    putProviderCredential: { ...other, privateKey },
    changeNotification: shown,
    pauseNotification: paused,
    resumeNotification: paused,
    cancelNotification: await job(),
    getBulkOperation: operation,
    cancelBulkOperation: cancelled,
    deleteTag: await make(`${admin}/tags`, { name: 'Doomed' }),
    deleteTagGroup: await make(`${admin}/groups`, { name: 'Doomed' }),
    readOwnDevice: device,
    deleteWebhook: await webhook(),
    discardDraft: await make('/push-api/v3/demo/drafts', { name: 'Doomed', content: {} }),
    deleteSegment: { name: 'doomed' },
    deleteTestDevice: await make('/push-api/v3/demo/test-devices', {
      name: 'Doomed',
      appId: demo.appId,
      platformId: PLATFORMS.apns,
      deviceId: 'ef'.repeat(32),
    }),
    showClientCredential: ofDemo,
    rotateClientCredential: ofDemo,
    listClientApps: ofDemo,
    addClientApp: ofDemo,
    putAppCredential: { ...other, privateKey },
    removeAppCredential: other,
    removeOperator: { email: 'ops@example.com' },
    resetAccount: { email: 'member@example.com' },
    listClientMembers: { clientId: 'demo' },
    inviteClientMember: { clientId: 'demo' },
    changeClientMember: { clientId: 'demo', email: 'member@example.com' },
    removeClientMember: { clientId: 'demo', email: 'member@example.com' },
    deleteKey: await make(`${admin}/keys`, { name: 'Doomed', scopes: ['read'] }),
  };
}

/** Sends the example of an operation, or another body or query. */
async function ask(
  { baseUrl }: EngineProcess,
  demo: Demo,
  people: People,
  operation: Operation,
  ids: Ids = {},
  body: unknown = bodyOf(operation, ids),
  query = queryOf(operation),
): Promise<Response> {
  const { method, parameters, security, tags } = operation;
  const path = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce(
      (made, { name, example }) =>
        made.replace(`{${name}}`, encodeURIComponent(String(ids[name] ?? example))),
      operation.path,
    );
  const headers = Object.fromEntries(
    parameters
      .filter((parameter) => parameter.in === 'header')
      .map(({ name, schema }) => [name, String(schema.examples?.[0])]),
  );
  const { token } = tags.includes('App API') ? demo.apiUser : demo.superUser;
  return fetch(baseUrl + path + query, {
    method,
    headers: {
      ...headers,
      ...(tags.includes('Operator') ? { Authorization: `Bearer ${OPERATOR_TOKEN}` } : {}),
      ...(tags.includes('Console') ? await people.headersFor(operation) : {}),
      ...(security === undefined ? { Authorization: `Bearer ${token}` } : {}),
    },
    ...(operation.requestBody === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function bodyOf({ requestBody, parameters }: Operation, ids: Ids): unknown {
  const example = requestBody?.content['application/json']?.example;
  const others = Object.entries(ids).filter(
    ([name]) => !parameters.some((parameter) => parameter.name === name),
  );
  return others.length === 0 ? example : { ...(example as object), ...Object.fromEntries(others) };
}

function queryOf({ parameters }: Operation): string {
  const given = parameters.filter((parameter) => parameter.in === 'query');
  const query = new URLSearchParams(
    Object.fromEntries(given.map(({ name, schema }) => [name, String(schema.examples?.[0])])),
  );
  return given.length === 0 ? '' : `?${query}`;
}

async function faultsOf(
  engine: EngineProcess,
  demo: Demo,
  people: People,
  operation: Operation,
  ids: Readonly<Record<string, Ids>>,
  body?: unknown,
  query?: string,
): Promise<string> {
  return await (
    await ask(engine, demo, people, operation, ids[operation.operationId], body, query)
  ).text();
}
