/**
 * Two engines, one on each front, are asked the same: routes of the App API with good, bad and odd
 * inputs. Status, headers and bodies are equal, but for the differences in the README of
 * packages/http1-uws.
 */

import { connect } from 'node:net';
import t from 'tap';
import { openPostgres } from '../../src/database/store.ts';
import { databaseTemplate } from '../support/environment.ts';
import { onUws } from '../support/fronts.ts';
import { Random } from '../support/http2/played/random.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { APP_PATHS, oddRequests } from '../support/odd-requests.ts';
import { bytesOf, mutated, targetOf } from '../support/route-fuzz/mutate.ts';
import type { Request } from '../support/route-fuzz/valid.ts';
import { nameOf, validRequest } from '../support/route-fuzz/valid.ts';
import type { World } from '../support/route-fuzz/world.ts';
import { makeWorld } from '../support/route-fuzz/world.ts';
import type { Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { createDatabase, onPostgres } from '../support/store.ts';

const SEED = 20_261_127;
const MUTATED = 300;
/** A longer body is refused while it is still sent, and uWebSockets.js may reset its sender. */
const BODY_BYTES_MAX = 60_000;

/** A page of uWebSockets.js, or a closed connection: the row "sends what is no request". */
const NO_REQUEST = /^$|^HTTP\/1\.1 (?:400|431|505) .*(?:<html>|<h1>)/s;
const REFUSED = /^HTTP\/1\.1 (?:400|417|431|501|505) /;

interface Side {
  readonly service: Service;
  readonly world: World;
}

const { test } = await onUws(t);

test('the App API is the same on both', (t) =>
  onPostgres(t, async (t) => {
    const [own, uws] = [await startSide(t, 'node'), await startSide(t, 'uws')];
    t.equal(own.world.tagId, uws.world.tagId, 'ids are equal');
    const ownRequests = requestsFor(own);
    const uwsRequests = requestsFor(uws);
    t.same([...ownRequests.keys()], [...uwsRequests.keys()]);
    const differing: string[] = [];
    let noRequests = 0;
    for (const [name, request] of ownRequests) {
      const [mine, other] = await Promise.all([
        speak(own, request),
        speak(uws, uwsRequests.get(name)),
      ]);
      if (mine === other) continue;
      if (REFUSED.test(mine) && NO_REQUEST.test(other)) noRequests += 1;
      else
        differing.push(`${name.slice(0, 200)}\n${mine.slice(0, 900)}\n---\n${other.slice(0, 900)}`);
    }
    t.same(differing, [], `of ${ownRequests.size} requests`);
    t.ok(noRequests < ownRequests.size / 20, `${noRequests} were no requests`);
  }));

async function startSide(t: Lifetime, front: 'node' | 'uws'): Promise<Side> {
  // One of its own from the template: ids begin at the same number.
  const store = await openPostgres(await createDatabase(t, databaseTemplate));
  t.teardown(() => store.close());
  const service = await startService(t, store, { HTTP_FRONT: front });
  return { service, world: await makeWorld(service, 'alike') };
}

/** The requests by their names, which are the same for both sides. */
function requestsFor({ service, world }: Side): ReadonlyMap<string, Buffer> {
  const { apiToken: token, login, appId, tagId } = world;
  const requests = new Map(oddRequests({ token, login, appId, tagId }));
  const random = new Random(SEED);
  const routes = service.engine.routes.filter(
    (route) => route.api === 'app' || APP_PATHS.includes(route.path),
  );
  for (const route of routes) requests.set(nameOf(route), bytesFor(valid(route, world)));
  for (let number = 0; number < MUTATED; number += 1) {
    const request = mutated(random, valid(random.pick(routes), world), world);
    const text = JSON.stringify(request.headers);
    const isAlike = !/[\x80-\uffff]/.test(text) && bytesOf(request.body).length < BODY_BYTES_MAX;
    if (isAlike) requests.set(`seed ${SEED}, request ${number}`, bytesFor(request));
  }
  return requests;
}

const valid = (route: Parameters<typeof validRequest>[0], world: World): Request =>
  validRequest(route, world, () => ({}));

function bytesFor(request: Request): Buffer {
  const body = bytesOf(request.body);
  const fields = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const head = [
    `${request.method} ${targetOf(request) || '/'} HTTP/1.1`,
    ...['Host: a', 'Connection: close', `Content-Length: ${body.length}`, ...fields, '', ''],
  ];
  return Buffer.concat([Buffer.from(head.join('\r\n')), body]);
}

/** The whole answer, with its header lines in order and without what differs each time. */
function speak({ service }: Side, request: Buffer = Buffer.alloc(0)): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(service.engine.url).port), '127.0.0.1');
    let heard = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      heard += text;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(comparable(heard)));
    socket.setTimeout(5_000, () => {
      heard += '(still open)';
      socket.destroy();
    });
    socket.write(request);
  });
}

function comparable(heard: string): string {
  const [head = '', ...body] = heard.split('\r\n\r\n');
  const [status = '', ...fields] = head.split('\r\n');
  const lines = fields.filter((line) => !line.startsWith('Date: ')).toSorted();
  return [status, ...lines, '', body.join('\r\n\r\n')]
    .join('\r\n')
    .replaceAll(/\b[\da-f]{32}\b/g, '<request id>')
    .replaceAll(/"(registeredAt|lastSeenAt)":\d{13}/g, '"$1":<a time>');
}
