/**
 * The files of a simulator: accounts and certificate. With them, an engine that was set up for a
 * simulator still works with it after a restart.
 */

import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { parseJson } from '../../../std/src/json.ts';
import type { ProviderAccounts } from '../accounts.ts';
import { accountsSchema } from '../accounts.ts';
import type { Certificate } from '../server/certificate.ts';
import { createCertificate } from '../server/certificate.ts';
import { ArgumentFault } from './argument-fault.ts';

/** The accounts of the file; undefined when there is no such file. */
export async function readAccounts(file: string): Promise<ProviderAccounts | undefined> {
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  const accounts = accountsSchema.safeParse(parseJson(text));
  if (accounts.success) return accounts.data;
  const issue = accounts.error.issues[0];
  throw new ArgumentFault(`--accounts-file ${file}: ${issue?.path.join('.')} ${issue?.message}`);
}

/**
 * Private keys, even worthless ones, are for their owner only. A file that was made meanwhile is
 * left alone.
 */
export const writeAccounts = (file: string, accounts: ProviderAccounts): Promise<void> =>
  writeFile(file, `${JSON.stringify(accounts, null, 2)}\n`, { mode: 0o600, flag: 'wx' });

/**
 * A year: after a new certificate, every engine must be restarted with it.
 * @limit days of a certificate that is kept (`--private-key-file`) → engines have to be started
 * again
 */
const KEPT_DAYS = 365;
/**
 * A certificate that expires sooner is replaced: a simulator may run for as long as a certificate
 * that is not kept is valid.
 * @limit time before its end in which it is renewed at a start
 */
const LEFT_MS_MIN = 30 * 86_400_000;

/**
 * The certificate in these files, if it is still valid for the host; else a new one, which is
 * written to the files.
 */
export async function keptCertificate(
  host: string,
  certificateFile: string,
  privateKeyFile: string,
): Promise<Certificate> {
  const certificatePem = await readIfThere(certificateFile);
  const privateKeyPem = await readIfThere(privateKeyFile);
  if (certificatePem !== undefined && privateKeyPem !== undefined) {
    if (isGood(certificatePem, host)) return { certificatePem, privateKeyPem };
  }
  const made = await createCertificate(host, KEPT_DAYS);
  await writeFile(privateKeyFile, made.privateKeyPem, { mode: 0o600 });
  await writeFile(certificateFile, made.certificatePem);
  return made;
}

function isGood(certificatePem: string, host: string): boolean {
  try {
    const certificate = new X509Certificate(certificatePem);
    const isForHost = certificate.checkHost(host) ?? certificate.checkIP(host);
    return isForHost !== undefined && Date.parse(certificate.validTo) > Date.now() + LEFT_MS_MIN;
  } catch {
    return false;
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
