/** Which bodies are a known message with another token, and which only look like one. */

import t from 'tap';
import { templateOf, tokenIn } from '../../src/simulator/fcm-template.ts';
import { parseObject } from '../../src/simulator/json.ts';

const TAIL = '","notification":{"title":"Töre \\"1:0\\"\\n"},"data":{"token":"x"}}}';

const bodyOf = (token: string, tail = TAIL) => Buffer.from(`{"message":{"token":"${token}${tail}`);

function make(body: Buffer) {
  return templateOf(body, parseObject(body.toString()) ?? {}, false);
}

t.test('the same message for another device gives its token', (t) => {
  const template = make(bodyOf('first:APA91b-_'));
  if (template === undefined) throw new Error('It has no template');
  for (const token of ['second', 'a/b+c=', "it's", 'x'.repeat(4_096)]) {
    t.equal(tokenIn(bodyOf(token), template), token);
  }
  for (const [name, body] of [
    ['no token', bodyOf('')],
    ['an escape', bodyOf('a\\u0041')],
    ['a space', bodyOf('a b')],
    ['a line break', bodyOf('a\nb')],
    ['other letters', bodyOf('é')],
    ['a field more', bodyOf('a","topic":"news')],
    ['another message', bodyOf('a', TAIL.replace('1:0', '2:0'))],
    ['a shorter message', bodyOf('a', '"}}')],
    ['another beginning', Buffer.from(bodyOf('a').toString().replace('token', 'topic'))],
    ['nothing', Buffer.alloc(0)],
  ] as const) {
    t.equal(tokenIn(body, template), undefined, name);
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
    ['the token comes later', Buffer.from('{"message":{"data":{},"token":"a"}}')],
  ] as const) {
    t.equal(make(body), undefined, name);
  }
  t.end();
});
