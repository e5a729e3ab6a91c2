/** The real program, and commands, with a setting that cannot be right. */

import { join } from 'node:path';
import t from 'tap';
import { createCertificate } from '../../../packages/simulator/src/server/certificate.ts';
import type { Case } from '../../support/start-refusals.ts';
import {
  COMMAND,
  PASSWORD,
  refusal,
  refusalHere,
  SECRET_KEY,
} from '../../support/start-refusals.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

t.test('values that cannot be right', async (t) => {
  const files = temporaryDirectory(t, { 'text.pem': 'no certificate' });
  const [one, other] = await Promise.all([createCertificate('one'), createCertificate('other')]);
  const pair = temporaryDirectory(t, { crt: one.certificatePem, key: other.privateKeyPem });
  const missing = join(files, 'missing.pem');
  const text = join(files, 'text.pem');
  const database = `postgres://user:${PASSWORD}@127.0.0.1:1/news`;
  const cases: readonly Case[] = [
    ['a port', { PORT: 'abc' }, /^PORT: must be a whole number from 0 to 65535, not abc\./],
    [
      'a scheme',
      { DATABASE_URL: database.replace('postgres', 'mysql'), SECRET_KEY },
      /^DATABASE_URL: must begin with postgres:\/\/, not mysql:\/\/: /,
    ],
    ['no key', { DATABASE_URL: database }, /^SECRET_KEY: must be set/],
    ['a short key', { SECRET_KEY: 'short' }, /^SECRET_KEY: must have 32 .+openssl rand/],
    [
      "Redis' scheme",
      { DATABASE_URL: database, SECRET_KEY, REDIS_URL: `http://:${PASSWORD}@127.0.0.1` },
      /^REDIS_URL: must be a URL as redis:/,
    ],
    [
      'a certificate that is missing',
      { TLS_CERT_FILE: missing, TLS_KEY_FILE: join(pair, 'key') },
      /^TLS_CERT_FILE: cannot read .+missing\.pem \(ENOENT\)/,
    ],
    [
      'a certificate that is none',
      { TLS_CERT_FILE: text, TLS_KEY_FILE: join(pair, 'key') },
      /^TLS_CERT_FILE: .+text\.pem holds no PEM certificate/,
    ],
    [
      'a key that is none',
      { TLS_CERT_FILE: join(pair, 'crt'), TLS_KEY_FILE: text },
      /^TLS_KEY_FILE: .+text\.pem holds no PEM private key/,
    ],
    [
      'a key of another certificate',
      { TLS_CERT_FILE: join(pair, 'crt'), TLS_KEY_FILE: join(pair, 'key') },
      /^TLS_KEY_FILE: .+ is not the key of the first certificate/,
    ],
    [
      'a CA that is none',
      { PROVIDER_CA_FILE: text },
      /^PROVIDER_CA_FILE: .+text\.pem holds no PEM certificate/,
    ],
  ];
  for (const [name, environment, line] of cases) {
    await t.test(name, async (t) => {
      const said = await refusalHere(t, environment);
      t.match(said, line, 'of a command');
      // The settings are read in one place for all: the first case stands for the others.
      if (name !== cases[0]?.[0]) return;
      t.equal(await refusal(t, environment), said, 'of the service');
      t.equal(await refusal(t, environment, COMMAND), said, 'of a command as a process');
    });
  }
});
