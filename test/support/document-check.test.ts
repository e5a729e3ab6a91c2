/** The check of the document finds the gaps in it. */

import t from 'tap';
import { z } from 'zod';
import { makeDocument } from '../../src/api/openapi/document.ts';
import { created } from '../../src/http/answers.ts';
import { form } from '../../src/http/form-body.ts';
import { id } from '../../src/http/openapi/parts.ts';
import { done } from '../../src/http/result.ts';
import { routesAt } from '../../src/http/route.ts';
import { strictForm } from '../../src/std/strict-form.ts';
import { DocumentCheck } from './document-check.ts';

const PATH = '/push-admin-api/v3/{client}/things';
const THING = { id: 1, name: 'a' };
const route = routesAt('/push-admin-api/v3/:client/things', { api: 'admin', needs: 'admin' }).post(
  'createThing',
  {
    summary: 'Make a thing',
    body: form(strictForm({ name: z.string() }), { name: 'a' }),
    answer: created('Made.', z.object({ id, name: z.string() }), THING),
  },
  () => done(THING),
);
const check = new DocumentCheck(makeDocument([route]));
const answered = (status: number, contentType: string, body: unknown) =>
  check.answerFault({
    method: 'POST',
    path: PATH,
    status,
    contentType,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

t.test('an answer that the document has is none', (t) => {
  t.equal(answered(201, 'application/json', { id: 1, name: 'a' }), null);
  const problem = { type: 'about:blank', title: 'a', status: 400, detail: 'a', requestId: 'a' };
  t.equal(answered(400, 'application/problem+json', problem), null);
  t.end();
});

t.test('any other is told', (t) => {
  t.match(answered(201, 'application/json', { id: 1, name: 'a', more: 1 }), /more/);
  t.match(answered(201, 'application/json', { id: 1 }), /name/);
  t.match(answered(201, 'application/json', { id: '1', name: 'a' }), /integer/);
  t.match(answered(201, 'text/plain', 'OK'), /201 as text\/plain is not documented/);
  t.match(answered(200, 'application/json', {}), /status 200 is not documented/);
  t.match(answered(400, 'application/problem+json', { status: 400 }), /type/);
  const elsewhere = { method: 'GET', path: PATH, status: 200, contentType: '', body: '' };
  t.match(check.answerFault(elsewhere), /no such operation/);
  t.end();
});

t.test('a field that was taken is in the document; its value is not looked at', (t) => {
  t.equal(check.bodyFault('POST', PATH, { name: 1 }), null);
  t.match(check.bodyFault('POST', PATH, { name: 'a', colour: 'red' }), /colour/);
  t.end();
});
