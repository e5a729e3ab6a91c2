import * as fc from 'fast-check';
import t from 'tap';
import { ErrorCode } from '../../../../packages/http2/src/error.ts';
import {
  huffmanDecode,
  huffmanDecodedRoom,
  huffmanEncode,
  huffmanOctets,
} from '../../../../packages/http2/src/hpack/huffman.ts';
import { hex } from './blocks.ts';

const encode = (text: string): Buffer => {
  const into = Buffer.alloc(huffmanOctets(text));
  return into.subarray(0, huffmanEncode(text, into, 0));
};
const decode = (code: Buffer): string => {
  const into = Buffer.alloc(huffmanDecodedRoom(code.length));
  return into.toString('latin1', 0, huffmanDecode(code, 0, code.length, into));
};

const COMPRESSION_ERROR = { name: 'ConnectionError', code: ErrorCode.COMPRESSION_ERROR };
const EVERY_OCTET = String.fromCharCode(...Array(256).keys());

t.test('the strings of RFC 7541 appendix C', (t) => {
  const examples = {
    'www.example.com': 'f1e3c2e5f23a6ba0ab90f4ff',
    'no-cache': 'a8eb10649cbf',
    'custom-key': '25a849e95ba97d7f',
    'custom-value': '25a849e95bb8e8b4bf',
    302: '6402',
    307: '640eff',
    private: 'aec3771a4b',
    'Mon, 21 Oct 2013 20:13:21 GMT': 'd07abe941054d444a8200595040b8166e082a62d1bff',
    gzip: '9bd9ab',
  };
  for (const [text, code] of Object.entries(examples)) {
    t.equal(encode(text).toString('hex'), code, text);
    t.equal(decode(hex(code)), text, code);
  }
  t.end();
});

t.test('the codes of RFC 7541 appendix B, of each length', (t) => {
  // The code's bits as the appendix gives them, aligned to the right; padded here with ones.
  const codes: readonly [octet: number, code: number, bits: number][] = [
    [0x30, 0x0, 5],
    [0x25, 0x15, 6],
    [0x3a, 0x5c, 7],
    [0x2a, 0xf9, 8],
    [0x21, 0x3f8, 10],
    [0x2b, 0x7fb, 11],
    [0x23, 0xffa, 12],
    [0x00, 0x1ff8, 13],
    [0x5e, 0x3ffc, 14],
    [0x7b, 0x7ffe, 15],
    [0x5c, 0x7fff0, 19],
    [0x80, 0xfffe6, 20],
    [0x99, 0x1fffdc, 21],
    [0x81, 0x3fffd2, 22],
    [0x01, 0x7fffd8, 23],
    [0x09, 0xffffea, 24],
    [0xc7, 0x1ffffec, 25],
    [0xc0, 0x3ffffe0, 26],
    [0xcb, 0x7ffffde, 27],
    [0x02, 0xfffffe2, 28],
    [0x0a, 0x3ffffffc, 30],
    [0x16, 0x3ffffffe, 30],
  ];
  for (const [octet, code, bits] of codes) {
    const padding = (8 - (bits % 8)) % 8;
    const digits = ((BigInt(code) << BigInt(padding)) | ((1n << BigInt(padding)) - 1n)).toString(
      16,
    );
    const text = String.fromCharCode(octet);
    t.equal(
      encode(text).toString('hex'),
      digits.padStart(2 * Math.ceil(bits / 8), '0'),
      `${octet}`,
    );
  }
  t.end();
});

t.test('what is coded is decoded, and fills the octets that were told', (t) => {
  const latin1 = fc.string({ unit: fc.constantFrom(...EVERY_OCTET), maxLength: 80 });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(latin1, (text) => {
        const code = encode(text);
        return code.length === huffmanOctets(text) && decode(code) === text;
      }),
    ),
  );
  t.equal(decode(encode(EVERY_OCTET)), EVERY_OCTET);
  t.end();
});

t.test('padding', (t) => {
  // "0" is 00000, "&" is 11111000.
  t.equal(decode(hex('07')), '0', 'of three ones');
  t.equal(decode(hex('f8')), '&', 'of none');
  t.equal(decode(Buffer.alloc(0)), '', 'of an empty string');
  t.equal(encode('1').toString('hex'), '0f', 'is written as ones');
  t.throws(() => decode(hex('00')), COMPRESSION_ERROR, 'zeros');
  t.throws(() => decode(hex('06')), COMPRESSION_ERROR, 'not all ones');
  t.throws(() => decode(hex('ff')), COMPRESSION_ERROR, 'eight ones');
  t.throws(() => decode(hex('07ff')), COMPRESSION_ERROR, 'eleven ones');
  t.throws(() => decode(hex('f8ff')), COMPRESSION_ERROR, 'a whole octet');
  t.throws(() => decode(hex('f8ffffff')), COMPRESSION_ERROR, 'three octets, not yet EOS');
  t.end();
});

t.test('EOS inside', (t) => {
  t.throws(() => decode(hex('ffffffff')), { ...COMPRESSION_ERROR, message: /EOS/ });
  t.throws(() => decode(hex('07ffffffff07')), { ...COMPRESSION_ERROR, message: /EOS/ });
  t.throws(() => decode(hex('fffffffc07')), { ...COMPRESSION_ERROR, message: /EOS/ });
  t.end();
});
