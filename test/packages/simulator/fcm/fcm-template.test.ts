/** Which bodies are a known message with another token, and which only look like one. */

import t from 'tap';
import { targetIn, templateOf } from '../../../../packages/simulator/src/fcm/fcm-template.ts';
import { parseObject } from '../../../../packages/std/src/json.ts';

const TAIL = '","notification":{"title":"Töre \\"1:0\\"\\n"},"data":{"token":"x"}}}';

const bodyOf = (token: string, tail = TAIL, kind = 'token') =>
  Buffer.from(`{"message":{"${kind}":"${token}${tail}`);

function make(body: Buffer) {
  return templateOf(body, parseObject(body.toString()) ?? {}, false);
}

t.test('the same message for another device gives its token', (t) => {
  const template = make(bodyOf('first:APA91b-_'));
  if (template === undefined) throw new Error('It has no template');
  for (const token of ['second', 'a/b+c=', "it's", 'x'.repeat(4_096)]) {
    t.same(targetIn(bodyOf(token), template), { kind: 'token', target: token });
  }
  const fid = 'dRh8_-aBcDeFgHiJkLmNoP';
  t.same(targetIn(bodyOf(fid, TAIL, 'fid'), template), { kind: 'fid', target: fid });
  const ofFid = make(bodyOf(fid, TAIL, 'fid'));
  t.same(ofFid && targetIn(bodyOf('a:b'), ofFid), { kind: 'token', target: 'a:b' });
  for (const [name, body] of [
    ['no token', bodyOf('')],
    ['an escape', bodyOf('a\\u0041')],
    ['a space', bodyOf('a b')],
    ['a line break', bodyOf('a\nb')],
    ['other letters', bodyOf('é')],
    ['a field more', bodyOf('a","topic":"news')],
    ['no installation id', bodyOf('a:b', TAIL, 'fid')],
    ['another message', bodyOf('a', TAIL.replace('1:0', '2:0'))],
    ['a shorter message', bodyOf('a', '"}}')],
    ['another beginning', Buffer.from(bodyOf('a').toString().replace('token', 'topic'))],
    ['nothing', Buffer.alloc(0)],
  ] as const) {
    t.equal(targetIn(body, template), undefined, name);
  }
  t.end();
});

t.test('a message has no template when another token might be the one that counts', (t) => {
  for (const [name, body] of [
    ['the token comes twice', bodyOf('a', '","token":"a"}}')],
    ['the token comes twice, in disguise', bodyOf('a', '","\\u0074oken":"a"}}')],
    ['the message comes twice', bodyOf('a', '"},"message":{"token":"a"}}')],
    ['the token is escaped', bodyOf('a\\"b', '"}}')],
    ['it is written with spaces', bodyOf('a', '" }}')],
    ['a fid comes behind', bodyOf('a', '","fid":"dRh8_-aBcDeFgHiJkLmNoP","fid":null}}')],
    ['the token comes later', Buffer.from('{"message":{"data":{},"token":"a"}}')],
  ] as const) {
    t.equal(make(body), undefined, name);
  }
  t.end();
});
