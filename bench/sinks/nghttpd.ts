/**
 * nghttpd with one worker: the cheapest HTTP/2 server there is to send to. It takes a POST to a file for a GET, so there is
 * an empty file for each token, and a push is answered 200 as APNs does it: a few header fields and no body.
 */

import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAccounts } from '../../src/simulator/accounts.ts';
import { createCertificate } from '../../src/simulator/certificate.ts';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { findProgram, startServer } from '../../test/support/programs.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { credentialOf } from './credential.ts';
import type { Sink } from './sink.ts';
import { makeTokens } from './tokens.ts';

/** nghttpd keeps the last 2,048 files open; twice as many tokens are 5 % slower, one alone is no faster. */
const TOKENS = 1_000;
/** As APNs. */
const STREAMS_MAX = 1_000;
/** 16 MiB: the sink says WINDOW_UPDATE seldom enough not to matter. */
const CONNECTION_WINDOW_BITS = 24;
/** One time for all files: `last-modified` is then the same in every answer, and costs one byte. */
const MODIFIED = new Date('2026-01-01T00:00:00Z');

/** Null, with a word to the console, when nghttpd is not installed. */
export async function startNghttpdSink(stage: Lifetime): Promise<Sink | null> {
  const nghttpd = findProgram('nghttpd');
  if (nghttpd === null) {
    console.log('(nghttpd is not installed: no rows for it, and no ratios)');
    return null;
  }
  const directory = temporaryDirectory(stage);
  const { certificatePem, privateKeyPem } = await createCertificate('127.0.0.1');
  const certificateFile = join(directory, 'certificate.pem');
  const keyFile = join(directory, 'key.pem');
  writeFileSync(certificateFile, certificatePem);
  writeFileSync(keyFile, privateKeyPem);
  const tokens = makeTokens(TOKENS);
  const documentRoot = makeDocumentRoot(directory, tokens);
  const [port = 0] = await startServer(stage, 1, ([port]) => [
    nghttpd,
    '--address=127.0.0.1',
    `--htdocs=${documentRoot}`,
    '--workers=1',
    `--max-concurrent-streams=${STREAMS_MAX}`,
    `--connection-window-bits=${CONNECTION_WINDOW_BITS}`,
    String(port),
    keyFile,
    certificateFile,
  ]);
  const credentials = await credentialOf(await createAccounts());
  return { name: 'nghttpd', host: '127.0.0.1', port, ca: certificatePem, ...credentials, tokens };
}

function makeDocumentRoot(directory: string, tokens: readonly string[]): string {
  const root = join(directory, 'htdocs');
  const devices = join(root, '3', 'device');
  mkdirSync(devices, { recursive: true });
  for (const token of tokens) {
    const file = join(devices, token);
    writeFileSync(file, '');
    utimesSync(file, MODIFIED, MODIFIED);
  }
  return root;
}
