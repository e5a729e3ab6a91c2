import t from 'tap';
import { z } from 'zod';
import type { Caller } from '../../src/domain/caller.ts';
import { created, listed, noContent, secret, shown } from '../../src/http/answers.ts';
import { form } from '../../src/http/form-body.ts';
import type { ApiRoute, HttpRequest, HttpResponse, Route } from '../../src/http/handler.ts';
import { rowsOf } from '../../src/http/list-answer.ts';
import { count, orAbsent, word } from '../../src/http/openapi/parts.ts';
import { choice, cursorFrom, LIMIT, pathId, time } from '../../src/http/parameters.ts';
import { done, refuse, refused } from '../../src/http/result.ts';
import { routesAt } from '../../src/http/route.ts';
import { strictForm } from '../../src/std/strict-form.ts';

const route = routesAt('/v3/:client/hats', { api: 'admin', needs: 'read' });
const hat = z.object({ size: count, colour: orAbsent(word(['red', 'blue'])) });
const HAT = { size: 57, colour: 'red' } as const;
const CALLER = { clientId: 7 } as Caller;
const path = { id: pathId('hat', 1) };

interface Sent {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

async function send(
  made: Route,
  { params = {}, query = '', body }: Sent = {},
): Promise<HttpResponse> {
  const request = {
    ...{ path: '/v3/demo/hats', params, query: new URLSearchParams(query), requestId: 'r' },
    body: Buffer.from(JSON.stringify(body ?? null)),
  } as HttpRequest;
  return await (made as ApiRoute).handle(request, CALLER);
}

const bodyOf = ({ body }: HttpResponse) => JSON.parse(body.toString());

t.test('what was read arrives as values', async (t) => {
  const made = route.post(
    'fitHat',
    {
      at: ':id/fit',
      summary: 'Fit',
      path,
      query: { from: time('From.', 0), colour: choice('The colour.', ['red', 'blue'], 'red') },
      body: form(strictForm({ head: z.int('must be whole') }), { head: 57 }),
      answer: shown('It fits.', z.object({ said: z.string() }), { said: '' }),
    },
    ({ caller, path: { id }, query: { from, colour }, body: { head } }) =>
      done({ said: [caller.clientId, id, from, colour, head].join(' ') }),
  );
  const sent = { params: { id: '3' }, query: 'from=1795392000000&colour=blue', body: { head: 58 } };
  t.same(bodyOf(await send(made, sent)), { said: '7 3 1795392000000 blue 58' });
  t.match(bodyOf(await send(made, { ...sent, params: { id: 'x' } })), {
    status: 404,
    detail: 'This client has no hat with this id.',
  });
  t.match(bodyOf(await send(made, { ...sent, query: 'color=red' })), {
    status: 400,
    errors: [{ path: 'color', message: /nearest is colour/ }],
  });
  t.match(bodyOf(await send(made, { ...sent, body: { head: 'big' } })), {
    status: 400,
    errors: [{ path: 'head', message: 'must be whole' }],
  });
  t.match(made, { method: 'POST', path: '/v3/:client/hats/:id/fit', api: 'admin', needs: 'read' });
  t.same(Object.keys(made.document?.answers ?? {}), ['200']);
  t.same(made.document?.problems, [404]);
});

t.test('an answer is made by its schema', async (t) => {
  const show = (value: typeof HAT | object) =>
    route.get('getHat', { summary: 'A hat', answer: secret(shown('A hat.', hat, HAT)) }, () =>
      done(value as typeof HAT),
    );
  const { status, headers, body } = await send(show({ ...HAT, price: 12 }));
  t.same([status, JSON.parse(body.toString())], [200, HAT], 'what it does not have is left out');
  t.match(headers, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  t.same(bodyOf(await send(show({ size: 57, colour: null }))), { size: 57 });
  t.same(bodyOf(await send(show({ size: 57, colour: 'green' }))), { size: 57, colour: 'green' });
  await t.rejects(send(show({ size: 'large', colour: null })), /size/, 'and a wrong one is a bug');
});

t.test('other statuses, headers beside the value, refusals', async (t) => {
  const make = (end: 'made' | 'over' | 'conflict') =>
    route.post('makeHat', { summary: 'Make', answer: created('Made.', hat, HAT) }, () => {
      if (end === 'over') return refuse.overLimit({ name: 'webhooks', max: 20, current: 20 });
      if (end === 'conflict') return refused(409, 'No.', { headers: { 'Retry-After': '1' } });
      return done(HAT, { headers: { Location: '/hats/1' } });
    });
  t.match(await send(make('made')), {
    status: 201,
    headers: { 'Content-Type': 'application/json', Location: '/hats/1' },
  });
  t.match(await send(make('over')), { status: 403, beyondLimit: 'webhooks' });
  t.match(await send(make('conflict')), { status: 409, headers: { 'Retry-After': '1' } });
  const remove = route.delete(
    'deleteHat',
    { at: ':id', summary: 'Delete', path, answer: noContent('Deleted.') },
    () => done(null),
  );
  t.match(await send(remove, { params: { id: '1' } }), { status: 204, body: '' });
});

t.test('a list is a page, or all; each row is made by its schema', async (t) => {
  const sizes = [54, 55, 56];
  const list = (isBusy = false) =>
    route.get(
      'listHats',
      {
        summary: 'Hats',
        query: { limit: LIMIT, cursor: cursorFrom([0]) },
        answer: listed('The hats.', hat, [HAT]),
      },
      ({ query }) =>
        rowsOf(query, {
          read: async ([after = 0], limit) =>
            isBusy
              ? refused(503, 'Later.')
              : sizes
                  .filter((size) => size > after)
                  .slice(0, limit)
                  .map((size) => ({ size, colour: null, price: 1 })),
          keyOf: ({ size }) => [size],
        }),
    );
  t.same(bodyOf(await send(list())), [{ size: 54 }, { size: 55 }, { size: 56 }]);
  const page = await send(list(), { query: 'limit=2' });
  t.same(bodyOf(page), [{ size: 54 }, { size: 55 }]);
  t.match(page.headers, { Link: /cursor=55/ });
  for (const query of ['', 'limit=2']) t.equal((await send(list(true), { query })).status, 503);
});
