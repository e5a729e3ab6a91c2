import t from 'tap';
import {
  faultSentence,
  SIMULATOR_ADVICE,
  simulatedFaultSentence,
} from '../../src/providers/fault-sentence.ts';

t.test('a word becomes a sentence that says what to fix; a sentence stays', (t) => {
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

t.test('of a simulator it says how to reach the real provider, but for faults of our own', (t) => {
  t.equal(simulatedFaultSentence('Forbidden'), `${faultSentence('Forbidden')} ${SIMULATOR_ADVICE}`);
  t.equal(simulatedFaultSentence('token request: no'), `token request: no. ${SIMULATOR_ADVICE}`);
  t.equal(simulatedFaultSentence('MissingCredential'), faultSentence('MissingCredential'));
  t.end();
});
