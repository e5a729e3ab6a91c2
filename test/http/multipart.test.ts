/** Bodies of `multipart/form-data` with one part, as the libraries of real callers write them. */

import t from 'tap';
import { isMultipart, readOnlyPart } from '../../src/http/multipart.ts';

const read = (contentType: string, body: string) => {
  const part = readOnlyPart(contentType, Buffer.from(body), 'data');
  return part.ok ? part.body.toString() : part;
};
const CONTENT_TYPE = 'multipart/form-data; boundary=b0';
const JSON_PART = 'Content-Disposition: form-data; name="data"\r\n\r\n{"tags":[]}';

t.test('a Content-Type that means parts', (t) => {
  t.ok(isMultipart('multipart/form-data; boundary=b0'));
  t.ok(isMultipart('Multipart/Form-Data;boundary="b 0"'));
  t.ok(isMultipart('multipart/form-data'));
  for (const other of ['', 'application/json', 'multipart/form-data-x', 'multipart/mixed']) {
    t.notOk(isMultipart(other), other);
  }
  t.end();
});

t.test('the part as Symfony, Guzzle, curl and browsers write it', async (t) => {
  const json = '{"tags":[{"name":"Ä","sourceId":"a"}]}';
  const symfony = '_=_symfony_1650000000_0a1b2c3d_=_';
  const cases: readonly (readonly [contentType: string, body: string])[] = [
    [
      `multipart/form-data; boundary="${symfony}"`,
      `--${symfony}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n` +
        `Content-Disposition: form-data; name="data"\r\n\r\n${json}\r\n--${symfony}--\r\n`,
    ],
    [
      'multipart/form-data; boundary=XY01_-z8',
      `--XY01_-z8\r\ncontent-disposition: form-data; name=data\r\ncontent-length: 39\r\n\r\n${json}\r\n--XY01_-z8--`,
    ],
    [
      'multipart/form-data; charset=utf-8; boundary=b0',
      `a preamble\r\n--b0 \t\r\n${JSON_PART.replace('{"tags":[]}', json)}\r\n--b0--\r\nan epilogue`,
    ],
  ];
  for (const [contentType, body] of cases) t.equal(read(contentType, body), json, contentType);
  const form = new FormData();
  form.set('data', json);
  const request = new Request('http://localhost/', { method: 'POST', body: form });
  t.equal(read(request.headers.get('content-type') ?? '', await request.text()), json);
});

t.test('what stands in the part is left as it is', (t) => {
  for (const content of ['', '\r\n', 'a\r\n--b0x\r\nb', '\r\n--b', 'x--b0\r\n']) {
    const body = `--b0\r\nContent-Disposition: form-data; name="data"\r\n\r\n${content}\r\n--b0--`;
    t.equal(read(CONTENT_TYPE, body), content, JSON.stringify(content));
  }
  t.end();
});

t.test('anything else is refused with a sentence', (t) => {
  const unended = /its boundary does not stand before and after a part/;
  const cases: readonly (readonly [contentType: string, body: string, why: RegExp])[] = [
    ['multipart/form-data', `--b0\r\n${JSON_PART}\r\n--b0--`, /needs a boundary/],
    ['multipart/form-data; boundary=', `--\r\n${JSON_PART}\r\n----`, /needs a boundary/],
    [`multipart/form-data; boundary=${'x'.repeat(71)}`, '', /1–70 characters/],
    [CONTENT_TYPE, '', unended],
    [CONTENT_TYPE, '{"tags":[]}', unended],
    [CONTENT_TYPE, '--b0--\r\n', unended],
    [CONTENT_TYPE, '--b0\r\n--b0--', unended],
    [CONTENT_TYPE, `--b0\r\n${JSON_PART}`, unended],
    [CONTENT_TYPE, `--b0\r\n${JSON_PART}--b0--`, unended],
    [CONTENT_TYPE, '--b0\r\nContent-Disposition: form-data; name="data"\r\n\r\n--b0--', unended],
    [CONTENT_TYPE, '--b0\r\n\r\n{}\r\n--b0--', /must be called "data"/],
    [CONTENT_TYPE, `--b0\r\n${JSON_PART.replace('data"', 'json"')}\r\n--b0--`, /called "data"/],
    [CONTENT_TYPE, `--b0\r\n${JSON_PART.replace('name=', 'filename=')}\r\n--b0--`, /called "data"/],
    [CONTENT_TYPE, `--b0\r\n${JSON_PART}\r\n--b0\r\n${JSON_PART}\r\n--b0--`, /and has more/],
    [CONTENT_TYPE, `--b0\r\nX: ${'x'.repeat(4_100)}\r\n${JSON_PART}\r\n--b0--`, /4096 bytes/],
  ];
  for (const [contentType, body, why] of cases) {
    t.match(read(contentType, body), { ok: false, why }, body.slice(0, 60));
  }
  t.end();
});
