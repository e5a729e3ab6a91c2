import t from 'tap';
import type { StoreFault } from '../../src/store/faults.ts';
import { faultOf } from '../../src/store/faults.ts';

const CODES: readonly (readonly [string, StoreFault])[] = [
  ['40P01', 'conflict'],
  ['40001', 'conflict'],
  ['22021', 'data'],
  ['23503', 'data'],
  ['08006', 'unavailable'],
  ['53300', 'unavailable'],
  ['57P01', 'unavailable'],
  ['57014', 'unavailable'],
  ['25P03', 'unavailable'],
  ['ECONNREFUSED', 'unavailable'],
  ['EPIPE', 'unavailable'],
  ['CONNECTION_CLOSED', 'unavailable'],
  ['CONNECT_TIMEOUT', 'unavailable'],
  ['42P01', 'bug'],
  ['25P02', 'bug'],
  ['UNDEFINED_VALUE', 'bug'],
  ['ERR_INVALID_ARG_TYPE', 'bug'],
];

t.test('every code has one meaning', (t) => {
  for (const [code, fault] of CODES) {
    t.equal(faultOf(Object.assign(new Error(code), { code })), fault, code);
  }
  t.equal(faultOf(new TypeError('no code')), 'bug');
  t.equal(faultOf('no error'), 'bug');
  t.end();
});
