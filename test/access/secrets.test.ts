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
