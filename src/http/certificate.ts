/** The service's TLS certificate, read again when its files change. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import { pemFaults } from '../std/pem-faults.ts';
import { Recurring } from '../std/recurring.ts';
import { SettingFault } from '../std/setting-fault.ts';

export interface CertificateFiles {
  /** PEM, the chain. */
  readonly certFile: string;
  readonly keyFile: string;
}

interface Pem {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * Not watched: where a link is set to another directory (Kubernetes) the file gets no event.
 * @limit between checks of the certificate's files
 */
const LOOK_INTERVAL_MS = 2_000;

export class Certificate {
  readonly #files: CertificateFiles;
  readonly #log: Logger;
  readonly #looks: Recurring;
  #pem: Pem;
  #onChanged: (pem: Pem) => void = () => undefined;
  /** The stamp of the files when they were last read, valid or not. */
  #stamp: string;

  private constructor(files: CertificateFiles, log: Logger, stamp: string, pem: Pem) {
    this.#files = files;
    this.#log = log;
    this.#stamp = stamp;
    this.#pem = pem;
    this.#looks = new Recurring(LOOK_INTERVAL_MS, () => this.#look());
    this.#looks.start();
  }

  /** Rejects with a SettingFault when a file is not valid. */
  static async open(files: CertificateFiles, log: Logger): Promise<Certificate> {
    const stamp = await stampOf(files);
    return new Certificate(files, log, stamp, read(files));
  }

  /** For a front that reads them itself. */
  get files(): CertificateFiles {
    return this.#files;
  }

  get pem(): Pem {
    return this.#pem;
  }

  /** Calls `listener` with each later certificate. */
  onChanged(listener: (pem: Pem) => void): void {
    this.#onChanged = listener;
  }

  /** Reads the files again. Invalid ones are logged, and the certificate stays as it was. */
  async reload(): Promise<void> {
    try {
      this.#stamp = await stampOf(this.#files);
      this.#pem = read(this.#files);
      this.#onChanged(this.#pem);
      const { validTo } = new X509Certificate(this.#pem.cert);
      this.#log.info({ certFile: this.#files.certFile, validTo }, 'a new certificate is in use');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.error(
        { reason },
        'the new certificate cannot be used: the previous one stays in use',
      );
    }
  }

  stop(): Promise<void> {
    return this.#looks.stop();
  }

  async #look(): Promise<void> {
    if ((await stampOf(this.#files)) !== this.#stamp) await this.reload();
  }
}

/** Throws a SettingFault that names each file that is not valid. */
function read({ certFile, keyFile }: CertificateFiles): Pem {
  const faults = pemFaults({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile });
  if (faults.length > 0) throw new SettingFault(faults.join(' '));
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

/** A text that changes when a file does. A missing file has one, too: it may come back. */
async function stampOf({ certFile, keyFile }: CertificateFiles): Promise<string> {
  const stamps = [certFile, keyFile].map(async (file) => {
    try {
      const { ino, size, mtimeMs } = await stat(file);
      return `${ino} ${size} ${mtimeMs}`;
    } catch (error) {
      return codeOf(error);
    }
  });
  return (await Promise.all(stamps)).join(', ');
}
