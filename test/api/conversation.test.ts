/**
 * The end of a request before its body is whole: without a working credential, or with too much
 * held.
 */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import t from 'tap';
import { Authenticator } from '../../src/access/authenticate.ts';
import { rotateCredential } from '../../src/access/credentials.ts';
import type { HttpRequest, Route } from '../../src/http/handler.ts';
import {
  addTenant,
  bearer,
  PATIENT_LIMITS,
  secrets,
  startApi,
  startApiOn,
} from '../support/api.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { until } from '../support/poll.ts';

const LENGTH = 1_000;
const echo = (api: 'app' | 'notification'): Route => ({
  ...(api === 'app' ? { api } : { api, needs: 'super-user' }),
  operation: null,
  method: 'POST',
  path: `/${api}`,
  bodyBytesMax: LENGTH,
  handle: ({ body }: HttpRequest) => ({ status: 200, body: `whole: ${body.length}` }),
});
const ROUTES = [echo('app'), echo('notification')];

interface HalfSent {
  readonly socket: Socket;
  heard(): string;
}

interface Half {
  readonly authorization: string;
  readonly path?: string;
  readonly fields?: readonly string[];
  readonly bytes?: number;
}

/** Sends a head and a part of its body. */
async function sendHalf(
  t: Lifetime,
  port: number,
  { authorization, path = '/app', fields = [], bytes = LENGTH / 2 }: Half,
): Promise<HalfSent> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  let heard = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text;
  });
  const named = authorization === '' ? [] : [`Authorization: ${authorization}`];
  const head = [`POST ${path} HTTP/1.1`, 'Host: a', `Content-Length: ${LENGTH}`];
  socket.write(`${[...head, ...named, ...fields].join('\r\n')}\r\n\r\n${'x'.repeat(bytes)}`);
  return { socket, heard: () => heard };
}

const answeredWith = ({ heard }: HalfSent, what: string): Promise<string> =>
  until(what, () => /^HTTP\/1\.1 (\d+)/.exec(heard())?.[1] ?? null, 5_000);

t.test('on every store', async (t) => {
  await onEachStore(t, {
    'no, and a wrong credential: the answer comes before the body': async (t, store) => {
      const demo = await addTenant(store.sql, 'demo');
      const { server } = await startApiOn(t, store, ROUTES, { limits: PATIENT_LIMITS });
      for (const [authorization, status] of [
        ['', '401'],
        ['Bearer tca_unknown', '401'],
        ['Bearer tca_unknown', '401'],
        [bearer(demo.superUser), '403'],
        [bearer(demo.superUser), '403'],
      ] as const) {
        const half = await sendHalf(t, server.port, { authorization });
        t.equal(await answeredWith(half, `${authorization} is refused`), status);
        half.socket.write('x'.repeat(LENGTH / 2));
        half.socket.write('POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
        await until('the connection goes on', () => (/ 404 /.test(half.heard()) ? true : null));
      }
    },

    'a store that is away is told of before the body too': async (t, store) => {
      const { server } = await startApiOn(t, store, ROUTES, { limits: PATIENT_LIMITS });
      await store.sql`alter table credentials rename to hidden`;
      const half = await sendHalf(t, server.port, { authorization: 'Bearer tca_any' });
      t.equal(await answeredWith(half, 'it is told'), '500');
      await store.sql`alter table hidden rename to credentials`;
    },

    'questions about credentials are bounded by the share, also of those who hang up': async (
      t,
      store,
    ) => {
      await addTenant(store.sql, 'demo');
      let asked = 0;
      let answer = (): void => undefined;
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const authenticator = new Authenticator(store.sql, secrets);
      // The real one, on a database that does not answer for a while.
      const slow = {
        recall: (header: string) => authenticator.recall(header),
        async authenticate(header: string) {
          asked += 1;
          await answered;
          return await authenticator.authenticate(header);
        },
      };
      const { server } = await startApi(t, slow, ROUTES, {
        limits: { ...PATIENT_LIMITS, requestsMax: 10 },
      });
      for (let number = 0; number < 20; number += 1) {
        const authorization = `Bearer tca_${number}`;
        const half = await sendHalf(t, server.port, { authorization });
        await until('it is looked at', () =>
          asked === Math.min(number + 1, 4) && (number < 4 || half.heard() !== '') ? true : null,
        );
        half.socket.destroy();
      }
      t.equal(asked, 4);
      answer();
      // The questions that were held up have to come to their end first.
      await until('there is room again', async () => {
        const next = await sendHalf(t, server.port, { authorization: 'Bearer tca_next' });
        return (await answeredWith(next, 'it is answered')) === '401' ? true : null;
      });
    },

    'what a body of JSON becomes counts in the share of its caller, until it is answered': async (
      t,
      { sql },
    ) => {
      const demo = await addTenant(sql, 'demo');
      const { baseUrl } = await startApi(t, new Authenticator(sql, secrets), ROUTES, {
        // A caller alone has 38 % of them.
        limits: { ...PATIENT_LIMITS, bodyBytesMax: 2 * 20_000 },
      });
      const values = '{},'.repeat(LENGTH / 3);
      const statusOf = async (path: string, user: Parameters<typeof bearer>[0], body: string) =>
        (
          await fetch(`${baseUrl}/${path}`, {
            method: 'POST',
            headers: { Authorization: bearer(user) },
            body,
          })
        ).status;
      for (let time = 0; time < 3; time += 1) {
        t.equal(await statusOf('notification', demo.superUser, values), 503, 'too many values');
        // The share is held until the question about the credential is answered, too.
        await until('its share is free', async () => {
          const status = await statusOf('notification', demo.superUser, 'x'.repeat(values.length));
          return status === 200 ? true : null;
        });
        t.equal(await statusOf('notification', demo.superUser, values.slice(0, 300)), 200);
        t.equal(await statusOf('app', demo.apiUser, values), 200, 'parsed values are not kept');
      }
    },

    'a credential that is taken away while its body comes is refused': async (t, { sql }) => {
      const demo = await addTenant(sql, 'demo');
      let nowMs = 0;
      const authenticator = new Authenticator(sql, secrets, () => nowMs);
      const { server } = await startApi(t, authenticator, ROUTES, { limits: PATIENT_LIMITS });
      const half = await sendHalf(t, server.port, {
        authorization: bearer(demo.apiUser),
        fields: ['Expect: 100-continue'],
        bytes: 0,
      });
      t.equal(await answeredWith(half, 'the body is asked for'), '100');
      half.socket.write('x'.repeat(LENGTH / 2));
      const { clientId, slug, appId } = demo;
      await rotateCredential(sql, secrets, { clientId, clientSlug: slug, appId }, 0);
      nowMs += 6_000;
      half.socket.write('x'.repeat(LENGTH / 2));
      await until('it is refused', () => (/HTTP\/1\.1 401 /.test(half.heard()) ? true : null));
    },

    'half-sent bodies of one address leave room for another one, and for publishers': async (
      t,
      store,
    ) => {
      const demo = await addTenant(store.sql, 'demo');
      const { server, baseUrl } = await startApiOn(t, store, ROUTES, {
        limits: { ...PATIENT_LIMITS, requestsMax: 20, bodyBytesMax: 4_000 },
        trustedProxies: ['127.0.0.1'],
      });
      const ask = async (address: string, path = '/app', credential = demo.apiUser) => {
        const headers = { Authorization: bearer(credential), 'X-Forwarded-For': address };
        const body = 'x'.repeat(100);
        const response = await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body });
        return [response.status, response.headers.get('retry-after')];
      };
      // So that memory knows them.
      t.same(await ask('192.0.2.9'), [200, null]);
      t.same(await ask('192.0.2.9', '/notification', demo.superUser), [200, null]);
      const flood: HalfSent[] = [];
      for (let number = 0; number < 15; number += 1) {
        flood.push(
          await sendHalf(t, server.port, {
            authorization: bearer(demo.apiUser),
            fields: ['X-Forwarded-For: 192.0.2.1'],
          }),
        );
      }
      await until('some are refused', () =>
        flood.some(({ heard }) => heard().startsWith('HTTP/1.1 503 ')) ? true : null,
      );
      // Every one of them has been looked at when this one has: the connections came in order.
      t.same(await ask('192.0.2.2'), [200, null], 'another address');
      t.same(await ask('192.0.2.1'), [503, '2'], 'the same address');
      t.same(
        await ask('192.0.2.1', '/notification', demo.superUser),
        [200, null],
        'a publisher behind that address has a share of his own',
      );
    },
  });
});
