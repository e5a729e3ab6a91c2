/** The files that a simulator keeps over its restarts. */

import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAccounts } from '../../../../packages/simulator/src/accounts.ts';
import {
  keptCertificate,
  readAccounts,
  writeAccounts,
} from '../../../../packages/simulator/src/command/files.ts';
import { createCertificate } from '../../../../packages/simulator/src/server/certificate.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

t.test('a certificate stays as long as it is good for the host', async (t) => {
  const directory = temporaryDirectory(t);
  const files = [join(directory, 'ca.pem'), join(directory, 'ca.key')] as const;
  const first = await keptCertificate('simulator', ...files);
  t.equal(readFileSync(files[0], 'utf8'), first.certificatePem);
  t.equal(statSync(files[1]).mode & 0o777, 0o600);
  t.equal(new X509Certificate(first.certificatePem).checkHost('simulator'), 'simulator');
  t.same(await keptCertificate('simulator', ...files), first);
  t.same(await keptCertificate('127.0.0.1', ...files), first, 'which is in every certificate');

  const other = await keptCertificate('other', ...files);
  t.not(other.certificatePem, first.certificatePem);
  t.equal(readFileSync(files[1], 'utf8'), other.privateKeyPem);

  const ending = await createCertificate('other', 29);
  writeFileSync(files[0], ending.certificatePem);
  writeFileSync(files[1], ending.privateKeyPem);
  const renewed = await keptCertificate('other', ...files);
  t.not(renewed.certificatePem, ending.certificatePem, 'it would have ended within a month');

  writeFileSync(files[0], 'no certificate');
  t.match((await keptCertificate('other', ...files)).certificatePem, 'BEGIN CERTIFICATE');
});

t.test('accounts are read as they were written', async (t) => {
  const directory = temporaryDirectory(t, { wrong: '{"apns":1}' });
  const file = join(directory, 'accounts.json');
  t.equal(await readAccounts(file), undefined);
  const accounts = await createAccounts();
  await writeAccounts(file, accounts);
  t.same(await readAccounts(file), accounts);
  await t.rejects(writeAccounts(file, accounts), { code: 'EEXIST' });
  await t.rejects(readAccounts(join(directory, 'wrong')), /--accounts-file .+ apns/);
});
