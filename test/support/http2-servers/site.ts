/**
 * The site that every HTTP/2 server of the tests serves: a small file, a large one, an echo of the
 * posted body, and its certificate.
 */

import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Certificate } from '../../../packages/simulator/src/server/certificate.ts';
import { createCertificate } from '../../../packages/simulator/src/server/certificate.ts';
import type { Lifetime } from '../lifetime.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

export const SMALL_PATH = '/small.txt';
export const SMALL_BODY = 'small\n';

/** Sixteen times a stream's first window: it does not come without WINDOW_UPDATE frames. */
export const LARGE_PATH = '/large.bin';
export const LARGE_BODY: Buffer = Buffer.alloc(1024 * 1024, 'every line is as long as this one\n');

/** Answers 200 and the body that was posted. */
export const ECHO_PATH = '/echo';

export interface Site {
  readonly directory: string;
  readonly documentRoot: string;
  readonly certificate: Certificate;
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** All files lie in a temporary directory, which goes with the test. */
export async function makeSite(t: Lifetime): Promise<Site> {
  const directory = temporaryDirectory(t);
  const documentRoot = join(directory, 'htdocs');
  mkdirSync(documentRoot);
  writeFileSync(join(documentRoot, SMALL_PATH), SMALL_BODY);
  writeFileSync(join(documentRoot, LARGE_PATH), LARGE_BODY);
  const certificate = await createCertificate('127.0.0.1');
  const certificateFile = join(directory, 'certificate.pem');
  const keyFile = join(directory, 'key.pem');
  writeFileSync(certificateFile, certificate.certificatePem);
  writeFileSync(keyFile, certificate.privateKeyPem);
  return { directory, documentRoot, certificate, certificateFile, keyFile };
}

/** An echo over HTTP/1.1 for the servers that cannot echo themselves but can pass a request on. */
export async function startEchoUpstream(t: Lifetime): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    request.pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
