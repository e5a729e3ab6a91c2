import t from 'tap';
import { ID_MAX, isId } from '../../src/domain/tag.ts';

t.test('an id is a whole number from 1 to the largest integer of PostgreSQL', (t) => {
  for (const id of [1, ID_MAX]) t.ok(isId(id), String(id));
  for (const none of [0, -1, 1.5, ID_MAX + 1, Number.NaN, Number.POSITIVE_INFINITY, '1', null]) {
    t.notOk(isId(none), String(none));
  }
  t.end();
});
