import t from 'tap';
import { makeDocument } from '../../../src/api/openapi/document.ts';
import type { Route } from '../../../src/http/handler.ts';

const answer = () => ({ status: 200, body: '' });
const route = (more: Partial<Route>): Route =>
  ({
    operation: 'getTag',
    api: 'admin',
    needs: 'read',
    method: 'GET',
    path: '/push-admin-api/v3/:client/tags/:id',
    bodyBytesMax: 0,
    handle: answer,
    ...more,
  }) as Route;

t.test('a route tells who may call, what it takes, and how it may fail', (t) => {
  const document = makeDocument([route({})]);
  const operation = document.paths['/push-admin-api/v3/{client}/tags/{id}']?.['get'];
  t.match(operation, {
    operationId: 'getTag',
    description: /keys with the scope `read`/,
    tags: ['Admin API'],
    parameters: [
      { name: 'client', in: 'path', required: true },
      { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } },
    ],
    responses: {
      200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Tag' } } } },
      401: { $ref: '#/components/responses/Unauthorized' },
      404: { $ref: '#/components/responses/NotFound' },
      default: { $ref: '#/components/responses/Problem' },
    },
  });
  t.match(document.components['schemas'], { Tag: { type: 'object' }, Problem: { type: 'object' } });
  t.end();
});

t.test('a form that refuses unknown fields says so', (t) => {
  const path = '/push-admin-api/v3/:client/tags';
  const document = makeDocument([route({ operation: 'createTag', method: 'POST', path })]);
  const operation = document.paths['/push-admin-api/v3/{client}/tags']?.['post'];
  t.match(operation?.['requestBody'], {
    content: {
      'application/json': { schema: { additionalProperties: false, required: ['name'] } },
    },
  });
  t.end();
});

t.test('a route that everybody may call needs no credential', (t) => {
  const open = route({ operation: 'getLiveness', api: 'open', path: '/livez' });
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
  t.throws(() => makeDocument([route({ path: '/a/:other' })]), /:other is not described/);
  t.end();
});
