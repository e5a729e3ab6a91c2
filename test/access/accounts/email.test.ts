/** E-mail addresses as login names. */

import t from 'tap';
import { readEmail } from '../../../src/access/accounts/email.ts';

t.test('one spelling for each', (t) => {
  t.equal(readEmail(' Ann@Example.COM '), 'ann@example.com');
  t.equal(readEmail('ann+push@mail.example'), 'ann+push@mail.example');
  for (const text of [
    '',
    'ann',
    '@example.com',
    'ann@',
    'ann@b@c',
    'an n@b',
    'ann\n@b',
    '\ud800@b',
  ]) {
    t.equal(readEmail(text), null, JSON.stringify(text));
  }
  t.equal(readEmail(`${'a'.repeat(252)}@b`), `${'a'.repeat(252)}@b`);
  t.equal(readEmail(`${'a'.repeat(253)}@b`), null, 'longer than any');
  t.end();
});
