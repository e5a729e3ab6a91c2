/** Reading a body, over real HTTP: its encoding, its compression, its numbers. */

import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { z } from 'zod';
import { dataForm } from '../../src/catalogue/routes/data-body.ts';
import type { HttpRequest, HttpResponse, Route } from '../../src/http/handler.ts';
import { json, parseObject, readForm } from '../../src/http/json-body.ts';
import { answerRefusal, refuse } from '../../src/http/result.ts';
import { startApi } from '../support/api.ts';

const form = z.object({ name: z.string() });

/** The ways in which the APIs read. */
const READERS: Readonly<Record<string, (request: HttpRequest) => HttpResponse>> = {
  form(request) {
    const read = readForm(request.body, form);
    return read.ok ? json(read.value) : answerRefusal(request, read);
  },
  data(request) {
    const read = dataForm(form, {}).read(request);
    return read.ok ? json(read.value) : answerRefusal(request, read);
  },
  object(request) {
    const read = parseObject(request.body);
    return read.ok ? json(read.value) : answerRefusal(request, refuse.invalid(read.faults));
  },
};

const routes = Object.entries(READERS).map(
  ([name, handle]): Route => ({
    api: 'open',
    method: 'POST',
    path: `/${name}`,
    bodyBytesMax: 10_000,
    operation: null,
    handle,
  }),
);
const nobody = { recall: () => null, authenticate: () => Promise.resolve(null) };
const { baseUrl } = await startApi(t, nobody as never, routes);

const post = async (path: string, body: Buffer, headers: Readonly<Record<string, string>> = {}) => {
  const answer = await fetch(`${baseUrl}/${path}`, {
    method: 'POST',
    body: new Uint8Array(body),
    headers,
  });
  return { status: answer.status, body: await answer.json() };
};

/** The body in the form of connectors. */
const inParts = (json: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('--b\r\nContent-Disposition: form-data; name="data"\r\n\r\n'),
    json,
    Buffer.from('\r\n--b--\r\n'),
  ]);
const MULTIPART = { 'Content-Type': 'multipart/form-data; boundary=b' };

const everywhere = async (body: Buffer) => [
  await post('form', body),
  await post('data', body),
  await post('data', inParts(body), MULTIPART),
  await post('object', body),
];

t.test('UTF-8 with a byte order mark', async (t) => {
  for (const answer of await everywhere(Buffer.from('\u{feff}{"name":"Tör"}'))) {
    t.same(answer, { status: 200, body: { name: 'Tör' } });
  }
});

t.test('what is not UTF-8 is named with its position, and what it may be', async (t) => {
  const cases: readonly (readonly [Buffer, RegExp])[] = [
    [
      Buffer.from('{\n "name":"T\u{f6}r"}', 'latin1'),
      /^The body must be UTF-8; it is not from line 2, column 11: .*Windows-1252/,
    ],
    [Buffer.from('\u{feff}{"name":"a"}', 'utf16le'), /line 1, column 1: it is UTF-16\.$/],
    [gzipSync('{"name":"a"}'), /it is compressed with gzip\.$/],
  ];
  for (const [body, message] of cases) {
    for (const answer of await everywhere(body)) {
      t.match(answer, { status: 400, body: { errors: [{ path: '', message }] } });
    }
  }
});

t.test('a fault of JSON behind a mark has the position that an editor shows', async (t) => {
  for (const answer of await everywhere(Buffer.from('\u{feff}{"name":x}'))) {
    t.match(answer.body, { errors: [{ message: /line 1, column 9\.$/ }] });
  }
});

t.test('a compressed body is named; one that was unpacked on the way is taken', async (t) => {
  const text = Buffer.from('{"name":"a"}');
  for (const [coding, body] of [
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
  ] as const) {
    const headers = { 'Content-Encoding': coding };
    const answer = await post('form', body, headers);
    t.match(answer, {
      status: 400,
      body: { detail: /^The body is compressed \((gzip|deflate|br)\)/ },
    });
    t.equal((await post('form', text, headers)).status, 200, `${coding} by name only`);
  }
  t.equal((await post('form', text, { 'Content-Encoding': 'utf-8' })).status, 200);
});
