/** Authorization headers as real clients write them. */

import t from 'tap';
import { parseAuthorization } from '../../src/access/authorization-header.ts';

const encode = (pair: string): string => Buffer.from(pair).toString('base64');

t.test('what is read, and what is nothing', (t) => {
  const user = { kind: 'basic', username: 'user', password: 'pass' };
  const missing = { kind: 'missing' };
  const cases: readonly (readonly [header: string, read: object])[] = [
    ['Bearer abc', { kind: 'bearer', token: 'abc' }],
    ['bearer abc', { kind: 'bearer', token: 'abc' }],
    ['BEARER   abc  ', { kind: 'bearer', token: 'abc' }],
    [`Basic ${encode('user:pass')}`, user],
    [`bAsIc ${encode('user:pass')}`, user],
    [`Basic ${encode('user:pass').replaceAll('=', '')}`, user],
    [`Basic ${encode('user:a:b:c')}`, { ...user, password: 'a:b:c' }],
    [`Basic ${encode('üser:pässwörd')}`, { ...user, username: 'üser', password: 'pässwörd' }],
    [
      `Basic ${Buffer.from('u:>>>?').toString('base64url')}`,
      { ...user, username: 'u', password: '>>>?' },
    ],
    [`Basic ${encode(':')}`, { ...user, username: '', password: '' }],
    ['', missing],
    ['Bearer', missing],
    ['Bearer ', missing],
    ['Bearer a b', missing],
    ['Basic', missing],
    [`Basic ${encode('no colon')}`, missing],
    ['Digest username="u"', missing],
    ['abc', missing],
  ];
  for (const [header, read] of cases) t.same(parseAuthorization(header), read, header);
  t.end();
});
