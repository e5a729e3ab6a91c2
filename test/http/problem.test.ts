/** The one form of every error: its faults are bounded, wherever they come from. */

import t from 'tap';
import { FAULTS_MAX, problem } from '../../src/http/problem.ts';

const errorsOf = (errors: readonly { path: string; message: string; position?: number }[]) =>
  JSON.parse(String(problem('r', 400, 'no', { errors }).body)).errors;

t.test('so many faults, and no more', (t) => {
  const fault = (n: number) => ({ path: `tagIds.${n}`, message: 'must be an id.' });
  const many = Array.from({ length: 100_000 }, (_, n) => fault(n));
  t.same(errorsOf(many), many.slice(0, FAULTS_MAX));
  t.same(errorsOf([{ ...fault(0), position: 7 }]), [{ ...fault(0), position: 7 }]);
  t.notOk(Object.hasOwn(JSON.parse(String(problem('r', 400, 'no').body)), 'errors'));
  t.end();
});

t.test('what a fault quotes is cut', (t) => {
  const long = '\u{1f600}'.repeat(500_000);
  const many = Array.from({ length: 200 }, () => ({ path: long, message: long }));
  const { body } = problem('r', 400, 'no', { errors: many });
  t.ok(body.length < FAULTS_MAX * 2 * 1_100, `${body.length} characters`);
  const [{ path }] = errorsOf(many);
  t.ok(path.isWellFormed());
  t.ok(path.endsWith('…'));
  t.end();
});
