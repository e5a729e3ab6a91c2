/** That every token is counted, whatever it looks like and however many there are. */

import t from 'tap';
import { TokenCounts } from '../../../../packages/simulator/src/record/token-counts.ts';

const list = (counts: TokenCounts) =>
  [...counts.entries()].map(({ count, readToken }) => [readToken(), count]);

t.test('it counts as a Map would, in the order tokens came', (t) => {
  const counts = new TokenCounts();
  const expected = new Map<string, number>();
  // Far more than is noted at a time, some of them again and again, some within the same notes.
  for (let index = 0; index < 50_000; index += 1) {
    const token = `token-${index % 7 === 0 ? index % 100 : index}`;
    counts.increment(token);
    expected.set(token, (expected.get(token) ?? 0) + 1);
  }
  t.same(list(counts), [...expected]);
  t.same(counts.totals(), {
    tokens: expected.size,
    repeats: 50_000 - expected.size,
    turnedAway: 0,
  });
  t.equal(counts.countOf('token-7'), expected.get('token-7'));
  t.equal(counts.countOf('another'), 0);
  counts.clear();
  t.same([list(counts), counts.totals().tokens, counts.has('token-7')], [[], 0, false]);
  t.end();
});

t.test('tokens that are nearly alike are not taken for one another', (t) => {
  const counts = new TokenCounts();
  const tokens = ['a', 'aa', 'aaa', 'aaaa', 'aaaaa', 'aaa\0', 'é', 'e\u0301', '\u{1f514}', '', ' '];
  for (const [index, token] of tokens.entries()) {
    for (let times = 0; times <= index; times += 1) counts.increment(token);
  }
  t.same(
    list(counts),
    tokens.map((token, index) => [token, index + 1]),
  );
  for (const [index, token] of tokens.entries()) t.equal(counts.countOf(token), index + 1);
  t.end();
});

t.test('a token may be as long as a request, and is listed without being counted', (t) => {
  const counts = new TokenCounts();
  const long = 'é'.repeat(65_536);
  for (let page = 0; page < 20; page += 1) counts.increment(`${page}${long}`);
  t.ok(counts.admit(`0${long}`), 'known already');
  t.ok(counts.admit(long), 'new');
  t.same([counts.countOf(`0${long}`), counts.countOf(long), counts.has(long)], [1, 0, true]);
  t.equal(counts.totals().tokens, 21);
  counts.increment('x'.repeat(200_000));
  t.notOk(counts.admit('x'.repeat(200_000)), 'no provider gets one as long as this');
  t.match(counts.totals(), { tokens: 21, turnedAway: 2 });
  t.end();
});
