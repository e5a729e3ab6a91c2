import t from 'tap';
import { faultSentence } from '../../src/domain/fault-sentence.ts';

t.test('a word becomes a sentence that says what to mend; a sentence stays', (t) => {
  t.match(
    faultSentence('InvalidProviderToken'),
    /^InvalidProviderToken: team id, key id and \.p8 .*\.$/,
  );
  t.match(faultSentence('BadEnvironmentKeyIdInToken'), /--sandbox/);
  t.match(faultSentence('BadEnvironmentKeyInToken'), /--sandbox/, 'as it is spelled in the wild');
  t.match(faultSentence('PERMISSION_DENIED'), /enable the FCM API/);
  t.match(faultSentence('MissingCredential'), /tagcast app credentials/);
  const sentence = 'token request: a.example:443 refuses connections';
  t.equal(faultSentence(sentence), sentence);
  t.equal(faultSentence('SomethingNew'), 'SomethingNew');
  t.equal(faultSentence('toString'), 'toString', 'a word that every object knows');
  t.end();
});
