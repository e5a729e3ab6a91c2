import t from 'tap';
import { QueryReader } from '../../src/http/query-reader.ts';

const reading = (query: string) => new QueryReader(new URLSearchParams(query));

t.test('what is given is read', (t) => {
  const query = reading(
    'limit=7&from=2026-01-02T03:04:05Z&to=1700000000000&state=B&name=x%20y&no=',
  );
  t.equal(query.whole('limit', 1, 10), 7);
  t.equal(query.time('from'), Date.UTC(2026, 0, 2, 3, 4, 5));
  t.equal(query.time('to'), 1_700_000_000_000);
  t.equal(query.choice('state', ['A', 'B']), 'B');
  t.equal(query.text('name'), 'x y');
  t.equal(query.text('no'), null, 'empty is not given');
  t.equal(query.whole('absent', 1, 10), null);
  t.equal(query.time('absent'), null);
  t.equal(query.choice('absent', ['A']), null);
  t.strictSame(query.faults, []);
  t.end();
});

t.test('what is wrong is told, each by its name', (t) => {
  const query = reading('limit=11&page=1e1&from=1700000000&state=C&x=1&x=2&limitt=3');
  query.refuseUnknown(['limit', 'page', 'from', 'state', 'x']);
  query.whole('limit', 1, 10);
  query.whole('page', 1, 10);
  query.time('from');
  query.choice('state', ['A', 'B']);
  query.text('x');
  t.match(query.faults, [
    { path: 'limitt', message: /nearest is limit\.$/ },
    { path: 'limit', message: /1–10/ },
    { path: 'page', message: /1–10/ },
    { path: 'from', message: /look like seconds/ },
    { path: 'state', message: /A, B/ },
    { path: 'x', message: /more than once/ },
  ]);
  t.equal(query.faults.length, 6);
  t.end();
});
