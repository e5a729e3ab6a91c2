import t from 'tap';
import { counted } from '../../src/std/counted.ts';

t.test('one has a singular, everything else a plural', (t) => {
  t.same(
    [0, 1, 2, 1_234].map((count) => counted(count, 'device')),
    ['0 devices', '1 device', '2 devices', '1,234 devices'],
  );
  t.equal(counted(2, 'address', 'addresses'), '2 addresses');
  t.end();
});
