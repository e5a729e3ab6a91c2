import t from 'tap';
import { errorReason } from '../../../packages/std/src/error-reason.ts';

t.test('a code says it all, otherwise the message', (t) => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), {
    code: 'ECONNREFUSED',
  });
  t.equal(errorReason(refused), 'ECONNREFUSED');
  t.equal(errorReason(new Error('in words')), 'in words');
  t.equal(errorReason(Object.assign(new Error('in words'), { code: 7 })), 'in words');
  t.equal(errorReason('no error at all'), 'no error at all');
  t.end();
});
