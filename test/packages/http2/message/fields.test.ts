import t from 'tap';
import {
  contentLengthOf,
  faultOfField,
  faultOfTrailers,
} from '../../../../packages/http2/src/message/fields.ts';
import { field } from '../hpack/blocks.ts';

const isSound = (name: string, value: string): boolean => faultOfField(field(name, value)) === null;

t.test('names are tokens in lower case (8.2.1)', (t) => {
  for (const name of ['a', 'x-y_z', "!#$%&'*+-.^_`|~09az", 'te']) {
    t.equal(isSound(name, 'trailers'), true, name);
  }
  for (let code = 0; code < 256; code += 1) {
    const octet = String.fromCharCode(code);
    const isToken = "!#$%&'*+-.^_`|~".includes(octet) || /[0-9a-z]/.test(octet);
    t.equal(isSound(`a${octet}`, 'x'), isToken, `octet ${code}`);
  }
  for (const name of ['', ':status', ':', 'A', 'a b', 'a\n', 'a\u0000']) {
    t.equal(isSound(name, 'x'), false, JSON.stringify(name));
  }
  t.end();
});

t.test('values have no NUL, CR or LF, nor space at an end (8.2.1)', (t) => {
  for (const value of ['', 'x', 'a b', 'a\tb', '\u00ff', '\u0001', '\u007f']) {
    t.equal(isSound('a', value), true, JSON.stringify(value));
  }
  for (const value of [' ', 'x ', ' x', '\tx', 'x\t', 'a\0b', 'a\rb', 'a\nb', '\n', 'x\n']) {
    t.equal(isSound('a', value), false, JSON.stringify(value));
  }
  t.end();
});

t.test('fields of HTTP/1.1 connections (8.2.2)', (t) => {
  for (const name of [
    'connection',
    'keep-alive',
    'proxy-connection',
    'transfer-encoding',
    'upgrade',
  ]) {
    t.equal(isSound(name, 'x'), false, name);
  }
  t.equal(isSound('te', 'trailers'), true);
  t.equal(isSound('te', 'gzip'), false);
  t.end();
});

t.test('trailers have no pseudo-fields (8.1)', (t) => {
  const fault = (...fields: ReturnType<typeof field>[]) =>
    faultOfTrailers({ fields, isTooLarge: false });
  t.equal(fault(), null);
  t.equal(fault(field('grpc-status', '0'), field('a', '')), null);
  t.type(fault(field('a', ''), field(':status', '200')), 'string');
  t.type(faultOfTrailers({ fields: [], isTooLarge: true }), 'string');
  t.end();
});

t.test('content-length', (t) => {
  t.equal(contentLengthOf('0', -1), 0);
  t.equal(contentLengthOf('123', -1), 123);
  t.equal(contentLengthOf('00123', 123), 123, 'the same twice');
  t.equal(contentLengthOf('124', 123), null, 'two that differ');
  t.equal(contentLengthOf('999999999999999', -1), 999_999_999_999_999);
  for (const value of ['', '-1', '+1', '1.0', '1e3', '0x1', ' 1', '1,1', '1'.repeat(16)]) {
    t.equal(contentLengthOf(value, -1), null, JSON.stringify(value));
  }
  t.end();
});
