/**
 * The TLS certificate of the simulator, for the names of its host: made at start and kept only in
 * memory, unless the caller stores it.
 */

import { isIP } from 'node:net';
import { generate } from 'selfsigned';

export interface Certificate {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** Longer than any run of a simulator, and short enough that a forgotten copy soon expires. */
const VALID_DAYS = 30;

/**
 * A client whose clock is a little late (a container, a virtual machine after sleep) must accept
 * it.
 */
const VALID_BEFORE_MS = 3_600_000;

const DAY_MS = 86_400_000;

export async function createCertificate(
  host: string,
  validDays = VALID_DAYS,
): Promise<Certificate> {
  const names = new Set(['127.0.0.1', '::1', 'localhost', host]);
  const now = Date.now();
  const made = await generate([{ name: 'commonName', value: 'Tagcast provider simulator' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - VALID_BEFORE_MS),
    notAfterDate: new Date(now + validDays * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [...names].map((name) =>
          isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name },
        ),
      },
    ],
  });
  return { certificatePem: made.cert, privateKeyPem: made.private };
}
