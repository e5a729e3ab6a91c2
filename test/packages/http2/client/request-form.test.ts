import * as fc from 'fast-check';
import t from 'tap';
import type { RequestForm } from '../../../../packages/http2/src/client/request-form.ts';
import { PreparedRequest } from '../../../../packages/http2/src/client/request-form.ts';
import { Encoder, fieldsSizeMax } from '../../../../packages/http2/src/hpack/encoder.ts';
import type { Field, Indexing } from '../../../../packages/http2/src/hpack/field.ts';
import { meant } from '../../../support/http2/meant.ts';
import { handed } from '../frame/vectors.ts';
import { decode, field, makeDecoder, pairs } from '../hpack/blocks.ts';

const NOTHING = Buffer.alloc(0);

const FORM: RequestForm = {
  method: 'POST',
  scheme: 'https',
  authority: 'push.test',
  valueIn: 'path',
  path: '/3/device/',
  fields: [field('apns-topic', 'com.example.app')],
  contentBefore: Buffer.from('{"aps":'),
  contentAfter: Buffer.from('{}}'),
};

/** A connection as the form sees it: our encoder, the peer's decoder. */
class Peers {
  readonly encoder = new Encoder();
  readonly #decoder = makeDecoder();
  compiledCount = 0;

  /**
   * Sends it like `ClientConnection`: compiled when that serves, otherwise whole. Returns the
   * peer's reading.
   */
  send(
    request: PreparedRequest,
    value: string,
    own = NOTHING,
  ): { fields: unknown; content: Buffer } {
    if (request.serves(this.encoder, value.length, own.length)) {
      this.compiledCount += 1;
      return this.#read(this.#written(request, value, own), request.hasContent);
    }
    const { block, fields } = this.#encoded(request.fieldsFor(value));
    request.compile(this.encoder, value.length);
    return {
      fields: block === null ? fields : this.#fieldsOf(block),
      content: request.contentFor(value, own),
    };
  }

  /** Fields of another request: the table changes. */
  disturb(fields: readonly Field[]): void {
    const { block } = this.#encoded(fields);
    if (block !== null) this.#fieldsOf(block);
  }

  resizeTable(octets: number): void {
    this.encoder.setTableSizeMax(octets);
  }

  #encoded(fields: readonly Field[]) {
    const room = Buffer.alloc(fieldsSizeMax(fields));
    return { block: room.subarray(0, this.encoder.encode(fields, room, 0)), fields };
  }

  #written(request: PreparedRequest, value: string, own: Buffer): Buffer {
    const octetsMax = request.octetsMax(value.length, own.length);
    const into = Buffer.alloc(octetsMax + 2, 0xee);
    const behind = request.write(into, 1, 2 ** 31 - 1, value, own);
    if (into[0] !== 0xee || into[octetsMax + 1] !== 0xee || behind > octetsMax + 1) {
      throw new Error('more than octetsMax');
    }
    return into.subarray(1, behind);
  }

  #read(wire: Buffer, hasContent: boolean): { fields: unknown; content: Buffer } {
    const [headers, ...data] = handed(wire);
    if (headers === undefined) throw new Error('no HEADERS');
    const endStream = hasContent ? 0 : 1;
    const shape = handed(wire).map(({ type, flags, streamId }) => [type, flags, streamId]);
    const expected = [[1, 4 | endStream, 2 ** 31 - 1]];
    if (hasContent) expected.push([0, 1, 2 ** 31 - 1]);
    if (JSON.stringify(shape) !== JSON.stringify(expected)) throw new Error(JSON.stringify(shape));
    const block = headers.bytes.subarray(headers.start, headers.end);
    const content = data.map(({ bytes, start, end }) => bytes.subarray(start, end));
    return { fields: this.#fieldsOf(block), content: Buffer.concat(content) };
  }

  #fieldsOf(block: Buffer): unknown {
    return pairs(decode(this.#decoder, block).fields);
  }
}

t.test('path octets around each length of their length', (t) => {
  const lengths = [0, 1, 126, 127, 128, 253, 254, 255, 256, 16_382, 16_383, 16_384, 16_509];
  for (const content of ['', '{}']) {
    const form = {
      ...FORM,
      path: '',
      contentBefore: Buffer.from(content),
      contentAfter: Buffer.alloc(0),
    };
    for (const first of lengths) {
      const peers = new Peers();
      const request = new PreparedRequest(form);
      for (const length of [first, first, ...lengths, first]) {
        const value = 'x'.repeat(length);
        t.same(peers.send(request, value), meant(form, value), `${length} after ${first}`);
      }
    }
  }
  t.end();
});

t.test('the second request of a kind is compiled, and those after it', (t) => {
  for (const valueIn of ['path', 'content'] as const) {
    const peers = new Peers();
    const request = new PreparedRequest({ ...FORM, valueIn });
    for (let i = 0; i < 10; i += 1) peers.send(request, `value-${i}`);
    t.equal(peers.compiledCount, 9);
  }
  t.end();
});

t.test('path and content of each request its own, of any length', (t) => {
  const { contentBefore } = FORM;
  for (const shared of [NOTHING, contentBefore]) {
    const form = {
      ...FORM,
      path: '',
      contentBefore: shared,
      contentAfter: NOTHING,
      hasOwnContent: true,
    };
    const peers = new Peers();
    const request = new PreparedRequest(form);
    for (const length of [300, 0, 1, 4_096, 300, 16_000]) {
      const path = `/wpush/v2/${'x'.repeat(length % 251)}`;
      const own = Buffer.alloc(length, length);
      t.same(peers.send(request, path, own), meant(form, path, own), `${length} octets`);
    }
    t.equal(peers.compiledCount, 4, 'all but the first of each length of the length of the path');
    peers.send(request, '/a', Buffer.alloc(17_000));
    t.equal(peers.compiledCount, 4, 'one that does not fit into two frames is not compiled');
  }
  t.end();
});

t.test('a table that has changed makes the octets stale', (t) => {
  const peers = new Peers();
  const request = new PreparedRequest(FORM);
  const other = new PreparedRequest({ ...FORM, fields: [field('apns-topic', 'other')] });
  peers.send(request, 'a');
  peers.send(request, 'a');
  t.equal(peers.compiledCount, 1);
  peers.send(other, 'a');
  t.same(peers.send(request, 'a'), meant(FORM, 'a'));
  t.equal(peers.compiledCount, 1, 'written whole');
  peers.send(request, 'a');
  t.equal(peers.compiledCount, 2);
  for (const octets of [0, 4_096]) {
    peers.resizeTable(octets);
    t.same(peers.send(request, 'a'), meant(FORM, 'a'));
  }
  t.equal(peers.compiledCount, 2);
  t.end();
});

t.test('what does not fit into two frames is never compiled', (t) => {
  const long = '{'.repeat(17_000);
  for (const form of [
    { ...FORM, fields: [field('a', long, 'without')] },
    { ...FORM, contentBefore: Buffer.from(long) },
    { ...FORM, valueIn: 'content' as const, contentAfter: Buffer.from(long) },
  ]) {
    const request = new PreparedRequest(form);
    const encoder = new Encoder();
    const room = Buffer.alloc(40_000);
    encoder.encode(request.fieldsFor('v'), room, 0);
    request.compile(encoder, 1);
    t.equal(request.serves(encoder, 1), false);
  }
  const grows = new PreparedRequest({ ...FORM, valueIn: 'content' });
  const encoder = new Encoder();
  encoder.encode(grows.fieldsFor('v'), Buffer.alloc(40_000), 0);
  grows.compile(encoder, 1);
  t.equal(grows.serves(encoder, 1), true);
  t.equal(grows.serves(encoder, 16_384), false);
  t.end();
});

t.test('a path takes visible ASCII only', (t) => {
  const peers = new Peers();
  const request = new PreparedRequest(FORM);
  const bad = [' ', 'a b', '\r', 'a\n', '\t', '\0', '\u007f', 'é', '\u2028', 'x\ud800'];
  for (const value of bad) {
    t.throws(() => request.fieldsFor(value), TypeError, encodeURI(value.toWellFormed()));
  }
  peers.send(request, 'good');
  for (const value of bad) {
    t.throws(() => peers.send(request, value), TypeError, 'compiled');
  }
  t.same(peers.send(request, 'good'), meant(FORM, 'good'), 'nothing has broken');
  let visible = '';
  for (let code = 0x21; code <= 0x7e; code += 1) visible += String.fromCharCode(code);
  t.same(peers.send(request, visible), meant(FORM, visible));
  t.end();
});

t.test('any text in the content', (t) => {
  const form: RequestForm = { ...FORM, valueIn: 'content' };
  const peers = new Peers();
  const request = new PreparedRequest(form);
  for (const value of [
    '',
    'a',
    'é',
    '漢字',
    '😀',
    'a b\r\n\0',
    '\ud800',
    'x'.repeat(5_000),
    '漢'.repeat(5_000),
  ]) {
    t.same(peers.send(request, value), meant(form, value), JSON.stringify(value.slice(0, 9)));
  }
  t.ok(peers.compiledCount > 6);
  t.end();
});

t.test('whatever the form, the values and the table: the peer understands what was meant', (t) => {
  const visible = (max: number) =>
    fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      maxLength: max,
    });
  const someField = fc
    .tuple(
      fc.stringMatching(/^[a-z][a-z-]{0,12}$/),
      fc.oneof(visible(20), visible(300)),
      fc.constantFrom<Indexing>('incremental', 'without', 'never'),
    )
    .map(([name, value, indexing]) => field(name, value, indexing));
  const content = fc
    .oneof(fc.constant(''), fc.string({ maxLength: 200 }))
    .map((text) => Buffer.from(text));
  const someForm: fc.Arbitrary<RequestForm> = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PATCH'),
    scheme: fc.constantFrom('https', 'http'),
    authority: visible(40),
    valueIn: fc.constantFrom('path', 'content'),
    path: visible(140).map((path) => `/${path}`),
    fields: fc.array(someField, { maxLength: 8 }),
    contentBefore: content,
    contentAfter: content,
  });
  const lengthOfPath = fc.constantFrom(125, 126, 127, 128, 253, 254, 255, 256, 16_383, 16_384);
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('send' as const), value: visible(60) }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('reach' as const), octets: lengthOfPath }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('unicode' as const),
        value: fc.string({ unit: 'binary', maxLength: 40 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('disturb' as const), fields: fc.array(someField) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('resize' as const), octets: fc.nat(5_000) }),
    },
  );
  const steps = fc.array(fc.tuple(step, fc.nat(2)), { minLength: 5, maxLength: 40 });
  void fc.assert(
    fc.property(fc.array(someForm, { minLength: 3, maxLength: 3 }), steps, (forms, steps) => {
      const peers = new Peers();
      const requests = forms.map((form) => new PreparedRequest(form));
      const check = (which: number, value: string): void => {
        const [form, request] = [forms[which], requests[which]];
        if (form === undefined || request === undefined) throw new Error('no such form');
        t.strictSame(peers.send(request, value), meant(form, value));
      };
      for (const [one, which] of steps) {
        const form = forms[which] ?? FORM;
        if (one.kind === 'send') check(which, one.value);
        else if (one.kind === 'reach')
          check(which, 'x'.repeat(Math.max(0, one.octets - form.path.length)));
        else if (one.kind === 'disturb') peers.disturb(one.fields);
        else if (one.kind === 'resize') peers.resizeTable(one.octets);
        else if (form.valueIn === 'content') check(which, one.value);
      }
    }),
    { numRuns: 60 },
  );
  t.end();
});
