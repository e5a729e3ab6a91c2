import { join } from 'node:path';
import t from 'tap';
import { createCertificate } from '../../packages/simulator/src/server/certificate.ts';
import { checkCertificates } from '../../src/doctor/certificates.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const DAY_MS = 86_400_000;

t.test('files of certificates', async (t) => {
  const { certificatePem: cert, privateKeyPem: key } = await createCertificate('127.0.0.1');
  const other = await createCertificate('127.0.0.1');
  const directory = temporaryDirectory(t, { cert, key, other: other.privateKeyPem });
  const pair = (keyName: string) => ({
    TLS_CERT_FILE: join(directory, 'cert'),
    TLS_KEY_FILE: join(directory, keyName),
  });
  t.same(checkCertificates({}), []);
  const [found] = checkCertificates(pair('key'));
  t.match(found, { level: 'ok', text: /valid until/ });
  const [, until = ''] = /until (\S+)/.exec(found?.text ?? '') ?? [];
  const untilMs = Date.parse(until);
  for (const [nowMs, level] of [
    [untilMs - DAY_MS, 'warning'],
    [untilMs + DAY_MS, 'problem'],
    [0, 'problem'],
  ] as const) {
    t.match(checkCertificates(pair('key'), nowMs), [{ level }]);
  }
  t.match(checkCertificates(pair('other')), [{ level: 'problem', text: /is not the key/ }]);
  t.match(checkCertificates(pair('none')), [{ level: 'problem', text: /cannot read/ }]);
  const ca = { PROVIDER_CA_FILE: join(directory, 'cert') };
  t.match(checkCertificates(ca), [{ level: 'ok', text: /PROVIDER_CA_FILE/ }]);
});
