/** Checks that PEM files hold what their settings name, so that faults have sentences. */

import type { KeyObject } from 'node:crypto';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

interface PemFiles {
  readonly TLS_CERT_FILE?: string | undefined;
  readonly TLS_KEY_FILE?: string | undefined;
  readonly PROVIDER_CA_FILE?: string | undefined;
}

type Opened<T> = { readonly value: T } | { readonly fault: string };

/** One sentence for each file that cannot be used. */
export function pemFaults(files: PemFiles): readonly string[] {
  const { TLS_CERT_FILE, TLS_KEY_FILE, PROVIDER_CA_FILE } = files;
  const certificate = openPem('TLS_CERT_FILE', TLS_CERT_FILE, readCertificate);
  const key = openPem('TLS_KEY_FILE', TLS_KEY_FILE, createPrivateKey);
  const ca = openPem('PROVIDER_CA_FILE', PROVIDER_CA_FILE, readCertificate);
  const faults = [certificate, key, ca].flatMap((opened) =>
    opened !== null && 'fault' in opened ? [opened.fault] : [],
  );
  return faults.length === 0 ? pairFaults(files, certificate, key) : faults;
}

const readCertificate = (pem: Buffer): X509Certificate => new X509Certificate(pem);

function openPem<T>(
  name: string,
  path: string | undefined,
  open: (pem: Buffer) => T,
): Opened<T> | null {
  if (path === undefined) return null;
  let pem: Buffer;
  try {
    pem = readFileSync(path);
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    return { fault: `${name}: cannot read ${path}${why}: name a file that this user may read.` };
  }
  try {
    return { value: open(pem) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const kind = name === 'TLS_KEY_FILE' ? 'private key without a passphrase' : 'certificate';
    return { fault: `${name}: ${path} holds no PEM ${kind} (${why}).` };
  }
}

function pairFaults(
  { TLS_CERT_FILE, TLS_KEY_FILE }: PemFiles,
  certificate: Opened<X509Certificate> | null,
  key: Opened<KeyObject> | null,
): readonly string[] {
  if (certificate === null || key === null) return [];
  const isPair =
    'value' in certificate && 'value' in key && certificate.value.checkPrivateKey(key.value);
  return isPair
    ? []
    : [
        `TLS_KEY_FILE: ${TLS_KEY_FILE} is not the key of the first certificate in ${TLS_CERT_FILE}.`,
      ];
}
