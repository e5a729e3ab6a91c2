/** The certificate that the service shows: read again when its files change, since certificates live for weeks and services for months. */

import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { SecureContext } from 'node:tls';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { Recurring } from '../../std/recurring.ts';

export interface CertificateFiles {
  /** PEM, the chain. */
  readonly certFile: string;
  /** PEM. */
  readonly keyFile: string;
}

/** Files are looked at so often. Not watched: a link that is set to another directory (Kubernetes) is no event of the file. */
const LOOK_INTERVAL_MS = 2_000;

export class Certificate {
  readonly #files: CertificateFiles;
  readonly #log: Logger;
  readonly #looks: Recurring;
  #context: SecureContext;
  /** Of the files as they were last read, whether they were any good or not. */
  #stamp: string;

  private constructor(files: CertificateFiles, log: Logger, stamp: string, context: SecureContext) {
    this.#files = files;
    this.#log = log;
    this.#stamp = stamp;
    this.#context = context;
    this.#looks = new Recurring(LOOK_INTERVAL_MS, () => this.#look());
    this.#looks.start();
  }

  /** Rejects with a sentence that begins with the variable whose file is no good. */
  static async open(files: CertificateFiles, log: Logger): Promise<Certificate> {
    const stamp = await stampOf(files);
    return new Certificate(files, log, stamp, (await read(files)).context);
  }

  /** For the next connection. */
  get context(): SecureContext {
    return this.#context;
  }

  /** Reads the files again, changed or not; bad ones are logged, and the certificate stays as it was. */
  async reload(): Promise<void> {
    try {
      this.#stamp = await stampOf(this.#files);
      const { context, validTo } = await read(this.#files);
      this.#context = context;
      this.#log.info({ certFile: this.#files.certFile, validTo }, 'a new certificate is in use');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.error({ reason }, 'the new certificate is no good: the one before it stays in use');
    }
  }

  stop(): Promise<void> {
    return this.#looks.stop();
  }

  async #look(): Promise<void> {
    if ((await stampOf(this.#files)) !== this.#stamp) await this.reload();
  }
}

async function read({
  certFile,
  keyFile,
}: CertificateFiles): Promise<{ readonly context: SecureContext; readonly validTo: string }> {
  const [cert, key] = await Promise.all([
    readPem('TLS_CERT_FILE', certFile),
    readPem('TLS_KEY_FILE', keyFile),
  ]);
  const { validTo } = parse('TLS_CERT_FILE', certFile, () => new X509Certificate(cert));
  const context = parse('TLS_KEY_FILE', keyFile, () => createSecureContext({ cert, key }));
  return { context, validTo };
}

async function readPem(variable: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new Error(`${variable}: ${file} cannot be read (${codeOf(error)}).`, { cause: error });
  }
}

function parse<T>(variable: string, file: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    const what =
      variable === 'TLS_CERT_FILE'
        ? 'holds no PEM certificate'
        : 'holds no PEM key, or not that of the certificate in TLS_CERT_FILE';
    throw new Error(`${variable}: ${file} ${what} (${codeOf(error)}).`, { cause: error });
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

/** What changes when a file does. A file that is not there has a stamp, too: it may come back. */
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
