/** Sealing and look-up under SECRET_KEY. */

import t from 'tap';
import { createSecrets } from '../../src/access/secrets.ts';

const secrets = createSecrets('first secret key, long enough to be one');
const others = createSecrets('other secret key, long enough to be one');

t.test('what is sealed opens for its record only', (t) => {
  const sealed = secrets.seal('pässword', 'record 1');
  t.same(secrets.open(sealed, secrets.keyId, 'record 1'), { kind: 'opened', plain: 'pässword' });
  t.same(secrets.open(sealed, secrets.keyId, 'record 2'), { kind: 'damaged' });
  t.notOk(sealed.includes('pässword'), 'the text is not in it');
  t.notSame(secrets.seal('pässword', 'record 1'), sealed, 'a nonce of its own each time');
  t.end();
});

t.test('a changed byte is noticed', (t) => {
  const sealed = secrets.seal('secret', 'record');
  for (const index of sealed.keys()) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    t.same(secrets.open(changed, secrets.keyId, 'record'), { kind: 'damaged' });
  }
  t.same(secrets.open(Buffer.alloc(5), secrets.keyId, 'record'), { kind: 'damaged' });
  t.end();
});

t.test('another key says that it is another key', (t) => {
  const sealed = secrets.seal('secret', 'record');
  t.notSame(others.keyId, secrets.keyId);
  t.same(others.open(sealed, secrets.keyId, 'record'), {
    kind: 'other-key',
    keyId: secrets.keyId,
  });
  t.notSame(others.lookupHash('token'), secrets.lookupHash('token'));
  t.same(secrets.lookupHash('token'), secrets.lookupHash('token'));
  t.end();
});

t.test('with two keys it writes with the first and reads with both', (t) => {
  const both = createSecrets(
    'first secret key, long enough to be one',
    'other secret key, long enough to be one',
  );
  t.same(both.keyIds, [secrets.keyId, others.keyId]);
  t.equal(both.keyId, secrets.keyId);
  t.same(both.lookupHash('token'), secrets.lookupHash('token'));
  t.same(both.lookupHashes('token'), [secrets.lookupHash('token'), others.lookupHash('token')]);
  for (const one of [secrets, others]) {
    const sealed = one.seal('secret', 'record');
    t.same(both.open(sealed, one.keyId, 'record'), { kind: 'opened', plain: 'secret' });
    t.same(both.open(sealed, one.keyId, 'another record'), { kind: 'damaged' });
  }
  t.same(secrets.open(both.seal('secret', 'record'), both.keyId, 'record'), {
    kind: 'opened',
    plain: 'secret',
  });
  t.match(both.open(both.seal('secret', 'record'), 'a third', 'record'), { kind: 'other-key' });
  t.end();
});
