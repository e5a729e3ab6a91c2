/** That an id is a UUID of version 4, and another each time. */

import t from 'tap';
import { randomId } from '../../src/simulator/random-id.ts';

const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

t.test('every id has the form and none comes twice', (t) => {
  const ids = Array.from({ length: 10_000 }, randomId);
  t.same(
    ids.filter((id) => !UUID_4.test(id)),
    [],
  );
  t.equal(new Set(ids).size, ids.length);
  t.end();
});
