import t from 'tap';
import { z } from 'zod';
import { makeDocument } from '../../../src/api/openapi/document.ts';
import { created, shown } from '../../../src/http/answers.ts';
import { form } from '../../../src/http/form-body.ts';
import type { Route } from '../../../src/http/handler.ts';
import { id } from '../../../src/http/openapi/parts.ts';
import { pathId } from '../../../src/http/parameters.ts';
import { done } from '../../../src/http/result.ts';
import { routesAt } from '../../../src/http/route.ts';
import { strictForm } from '../../../src/std/strict-form.ts';

const answer = () => ({ status: 200, body: '' });
const route = (more: Partial<Route>): Route =>
  ({
    operation: 'getThing',
    api: 'admin',
    needs: 'read',
    method: 'GET',
    path: '/push-admin-api/v3/:client/things/:id',
    bodyBytesMax: 0,
    handle: answer,
    ...more,
  }) as Route;

const thing = z.object({ id, name: z.string() }).meta({ id: 'Thing' });
const THING = { id: 1, name: 'a' };
const things = routesAt('/push-admin-api/v3/:client/things', { api: 'admin', needs: 'read' });

t.test('a route tells who may call, what it takes, and how it may fail', (t) => {
  const getThing = things.get(
    'getThing',
    {
      at: ':id',
      summary: 'One thing',
      path: { id: pathId('thing', 1) },
      answer: shown('The thing.', thing, THING),
    },
    () => done(THING),
  );
  const document = makeDocument([getThing]);
  const operation = document.paths['/push-admin-api/v3/{client}/things/{id}']?.['get'];
  t.match(operation, {
    operationId: 'getThing',
    description: /keys with the scope `read`/,
    tags: ['Admin API'],
    parameters: [
      { name: 'client', in: 'path', required: true },
      { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } },
    ],
    responses: {
      200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
      401: { $ref: '#/components/responses/Unauthorized' },
      404: { $ref: '#/components/responses/NotFound' },
      default: { $ref: '#/components/responses/Problem' },
    },
  });
  const schemas = { Thing: { type: 'object' }, Problem: { type: 'object' } };
  t.match(document.components['schemas'], schemas);
  t.end();
});

t.test('a form that refuses unknown fields says so', (t) => {
  const createThing = things.post(
    'createThing',
    {
      summary: 'Make a thing',
      body: form(strictForm({ name: z.string() }), { name: 'a' }),
      answer: created('Made.', thing, THING),
    },
    () => done(THING),
  );
  const operation = makeDocument([createThing]).paths['/push-admin-api/v3/{client}/things']?.[
    'post'
  ];
  t.match(operation?.['requestBody'], {
    content: {
      'application/json': { schema: { additionalProperties: false, required: ['name'] } },
    },
  });
  t.end();
});

t.test('a route that everybody may call needs no credential', (t) => {
  const open = routesAt('/livez', { api: 'open' }).get(
    'getLiveness',
    { summary: 'Whether it answers', answer: shown('It does.', thing, THING) },
    () => done(THING),
  );
  const operation = makeDocument([open]).paths['/livez']?.['get'];
  t.same(operation?.['security'], []);
  t.notOk(Object.hasOwn(operation?.['responses'] as object, '401'));
  t.end();
});

t.test('what a browser loads is no part of the interface', (t) => {
  t.same(makeDocument([route({ operation: 'page', api: 'open', path: '/console/' })]).paths, {});
  t.end();
});

t.test('what is not described is a fault', (t) => {
  t.throws(() => makeDocument([route({ operation: null })]), /has no operation/);
  t.throws(() => makeDocument([route({ operation: 'other' })]), /nothing describes other/);
  const answer = shown('The thing.', thing, THING);
  const unnamed = things.get('getThing', { at: ':other', summary: 'One', answer }, () =>
    done(THING),
  );
  t.throws(() => makeDocument([unnamed]), /:other is not described/);
  t.end();
});
