/** A certificate in files, as engines and listeners read it: signed by itself. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import type { Lifetime } from './lifetime.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export class CertificateOnDisk {
  readonly files: { readonly certFile: string; readonly keyFile: string };

  private constructor(directory: string) {
    this.files = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') };
  }

  static async make(t: Lifetime, name = 'localhost'): Promise<CertificateOnDisk> {
    const made = new CertificateOnDisk(temporaryDirectory(t));
    await made.replace(name);
    return made;
  }

  /** They make an engine speak TLS. */
  get settings(): Readonly<Record<'TLS_CERT_FILE' | 'TLS_KEY_FILE', string>> {
    return { TLS_CERT_FILE: this.files.certFile, TLS_KEY_FILE: this.files.keyFile };
  }

  get pem(): string {
    return readFileSync(this.files.certFile, 'utf8');
  }

  /** Writes another one, with a key of the kind that people get today. */
  async replace(name: string): Promise<void> {
    const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
      keyType: 'ec',
      curve: 'P-256',
    });
    writeFileSync(this.files.certFile, cert);
    writeFileSync(this.files.keyFile, key);
  }
}
