/** The query of a list: what is read of it, and what is said of the rest. */

import t from 'tap';
import { QueryReader } from '../../src/http/query-reader.ts';

const KNOWN = ['limit', 'cursor', 'q', 'appId', 'from', 'to', 'state'] as const;
const read = (query: string) => new QueryReader(new URLSearchParams(query), KNOWN);

t.test('what is given, and what is not', (t) => {
  const given = read('limit=10&cursor=12.7&q=a%20b&appId=3');
  t.equal(given.limit(), 10);
  t.same(given.cursor([0, 0]), [12, 7]);
  t.equal(given.text('q'), 'a b');
  t.equal(given.number('appId', 1), 3);
  t.same(given.faults, []);
  const none = read('q=');
  t.equal(none.limit(), null);
  t.same(none.cursor([0, 0]), [0, 0]);
  t.equal(none.text('q'), null);
  t.equal(none.number('appId', 1), null);
  t.same(none.faults, []);
  t.end();
});

t.test('a cursor is one of this list', (t) => {
  for (const cursor of ['', 'x', '1', '1.2.3', '1.', '1.x', '1,2', '-1.2', '1.99999999999']) {
    const reader = read(`cursor=${encodeURIComponent(cursor)}`);
    t.same(reader.cursor([0, 0]), [0, 0], cursor);
    t.match(reader.faults, [{ path: 'cursor' }], cursor);
  }
  t.end();
});

t.test('unknown and repeated parameters are named, ten at most', (t) => {
  t.match(read('app_id=3').faults, [{ path: 'app_id', message: /nearest is appId/ }]);
  t.match(read('limit=1&limit=2').faults, [{ path: 'limit', message: /twice/ }]);
  const many = Array.from({ length: 50 }, (_, n) => `x${n}=1`).join('&');
  t.equal(read(many).faults.length, 10);
  const [long] = read(`${'y'.repeat(1_000)}=1`).faults;
  t.equal(long?.path.length, 64);
  t.end();
});

t.test('numbers have bounds', (t) => {
  for (const value of ['', '0', '1001', '1.5', '1e3', '+1', ' 1', 'x']) {
    const reader = read(`limit=${encodeURIComponent(value)}`);
    t.equal(reader.limit(), null, value);
    t.match(reader.faults, [{ path: 'limit', message: /1–1000/ }], value);
  }
  t.end();
});

t.test('ids, with commas between them', (t) => {
  const ids = (value: string) => {
    const reader = new QueryReader(new URLSearchParams(`ids=${value}`), ['ids']);
    return { ids: reader.ids('ids', 3), faults: reader.faults.length };
  };
  t.same(ids('7'), { ids: [7], faults: 0 });
  t.same(ids('7,2,7'), { ids: [7, 2, 7], faults: 0 });
  for (const value of ['', ',', '1,', '0', '1,x', '1, 2', '99999999999', '1,2,3,4']) {
    t.same(ids(value), { ids: null, faults: 1 }, value);
  }
  t.end();
});

t.test('times and words', (t) => {
  const given = read('from=2026-01-02T03:04:05Z&to=1700000000000&state=B');
  t.equal(given.time('from'), Date.UTC(2026, 0, 2, 3, 4, 5));
  t.equal(given.time('to'), 1_700_000_000_000);
  t.equal(given.choice('state', ['A', 'B']), 'B');
  t.same(given.faults, []);
  const wrong = read('from=1700000000&state=C');
  t.equal(wrong.choice('state', ['A', 'B']), null);
  wrong.time('from');
  t.match(wrong.faults, [
    { path: 'state', message: /A, B/ },
    { path: 'from', message: /look like seconds/ },
  ]);
  const none = read('');
  t.same([none.time('from'), none.choice('state', ['A'])], [null, null]);
  t.same(none.faults, []);
  t.end();
});

t.test('a text that is not UTF-8 would find nothing', (t) => {
  for (const [query, faults] of [
    ['q=M%FCnchen', 1],
    ['q=M%C3%BCnchen', 0],
  ] as const) {
    const reader = read(query);
    reader.text('q');
    t.equal(reader.faults.length, faults, query);
  }
  t.end();
});

t.test('the public service ignores what it does not know', (t) => {
  const query = new URLSearchParams('page=2&page=3&colour=blue');
  t.match(new QueryReader(query, ['page'], 'ignored').faults, [{ path: 'page' }]);
  t.end();
});
