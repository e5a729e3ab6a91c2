import t from 'tap';
import type { StoreFault } from '../../src/database/faults.ts';
import { faultOf } from '../../src/database/faults.ts';

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
  ['ECONNRESET', 'unavailable'],
  ['EPIPE', 'unavailable'],
  ['ETIMEDOUT', 'unavailable'],
  ['ENETUNREACH', 'unavailable'],
  ['ENOTFOUND', 'unavailable'],
  ['EAI_AGAIN', 'unavailable'],
  ['CONNECTION_CLOSED', 'unavailable'],
  ['CONNECT_TIMEOUT', 'unavailable'],
  ['42P01', 'bug'],
  ['25P02', 'bug'],
  ['UNDEFINED_VALUE', 'bug'],
  ['ERR_INVALID_ARG_TYPE', 'bug'],
  ['ENOENT', 'bug'],
  ['EMFILE', 'bug'],
  ['EINVAL', 'bug'],
  ['EVERYTHING', 'bug'],
];

t.test('every code has one meaning', (t) => {
  for (const [code, fault] of CODES) {
    t.equal(faultOf(Object.assign(new Error(code), { code })), fault, code);
  }
  t.equal(faultOf(new TypeError('no code')), 'bug');

  t.equal(faultOf('no error'), 'bug');
  t.end();
});

t.test('a code of the system is one of the database only where a connection was made', (t) => {
  const thrown = (code: string, syscall: string) =>
    Object.assign(new Error(`${code}: ${syscall}`), { code, syscall });
  t.equal(faultOf(thrown('ENOENT', 'connect')), 'unavailable', 'its socket is not there');
  t.equal(faultOf(thrown('EMFILE', 'connect')), 'unavailable');
  t.equal(faultOf(thrown('EMFILE', 'uv_resident_set_memory')), 'bug');
  t.equal(faultOf(thrown('EMFILE', 'open')), 'bug');
  t.equal(faultOf(thrown('ENOENT', 'open')), 'bug');
  t.equal(faultOf(thrown('ENOSPC', 'write')), 'bug');
  t.end();
});
