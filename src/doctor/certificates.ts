/** Checks the files of certificates: that they fit, and how long they are valid. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pemFaults } from '../std/pem-faults.ts';
import type { Finding } from './finding.ts';
import { findingsAbout } from './finding.ts';

interface CertificateFiles {
  readonly TLS_CERT_FILE?: string | undefined;
  readonly TLS_KEY_FILE?: string | undefined;
  readonly PROVIDER_CA_FILE?: string | undefined;
}

/** Enough to get another one by hand. */
const DAYS_LEFT_WANTED = 14;
const DAY_MS = 86_400_000;

export function checkCertificates(
  files: CertificateFiles,
  nowMs: number = Date.now(),
): readonly Finding[] {
  const { problem } = findingsAbout('certificates');
  const faults = pemFaults(files);
  if (faults.length > 0) return faults.map(problem);
  const { TLS_CERT_FILE, PROVIDER_CA_FILE } = files;
  return Object.entries({ TLS_CERT_FILE, PROVIDER_CA_FILE }).flatMap(([name, path]) =>
    path === undefined
      ? []
      : [checkDates(name, path, new X509Certificate(readFileSync(path)), nowMs)],
  );
}

function checkDates(
  name: string,
  path: string,
  { validFrom, validTo }: X509Certificate,
  nowMs: number,
): Finding {
  const { ok, warning, problem } = findingsAbout('certificates');
  const untilMs = Date.parse(validTo);
  const until = new Date(untilMs).toISOString();
  if (Date.parse(validFrom) > nowMs) {
    return problem(
      `${name}: ${path} is not valid before ${validFrom}: put one that is, or correct the clock.`,
    );
  }
  if (untilMs <= nowMs) {
    return problem(
      `${name}: ${path} has ended on ${until}: put a new one, and send SIGHUP to the engine.`,
    );
  }
  const days = Math.floor((untilMs - nowMs) / DAY_MS);
  return days < DAYS_LEFT_WANTED
    ? warning(
        `${name}: ${path} ends in ${days} days, on ${until}: put a new one, and send SIGHUP to the engine.`,
      )
    : ok(`${name}: ${path} is valid until ${until}`);
}
