import t from 'tap';
import { meetsDays, rangesOf } from '../../src/domain/device-days.ts';
import type { TestOperator } from '../../src/domain/expression-tests.ts';

/** Twelve o'clock of the tenth day. */
const NOW_MS = 10.5 * 86_400_000;

const met = (operator: TestOperator, values: readonly string[]): string =>
  [8, 9, 10, 11, null]
    .filter((registered) =>
      rangesOf('registered', operator, values, NOW_MS).some((range) =>
        meetsDays(range, { registered, lastSeen: null }),
      ),
    )
    .join();

t.test('a test is met by days', (t) => {
  t.equal(met('has', []), '8,9,10,11');
  t.equal(met('=', ['-1d']), '9');
  t.equal(met('!=', ['-1d']), '8,10,11');
  t.equal(met('<', ['-12h']), '8,9');
  t.equal(met('<=', ['-13h']), '8,9');
  t.equal(met('>', ['-1d']), '10,11');
  t.equal(met('>=', ['+0d']), '10,11');
  t.equal(met('in', ['-2d', '+13h', '-2d']), '8,11');
  t.end();
});

t.test('a device whose day is not known meets only what excludes', (t) => {
  const range = { day: 'lastSeen', from: 3 } as const;
  t.notOk(meetsDays(range, { registered: 5, lastSeen: null }));
  t.notOk(meetsDays(range, null));
  t.ok(meetsDays({ ...range, isExcluded: true }, null));
  t.notOk(meetsDays({ ...range, isExcluded: true }, { registered: null, lastSeen: 3 }));
  t.end();
});
