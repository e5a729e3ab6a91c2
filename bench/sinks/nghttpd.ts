/**
 * nghttpd with one worker: the cheapest HTTP/2 server there is to send to. It takes a POST to a
 * file for a GET, so there is a file for each path: an empty one for each token of APNs, whose
 * answer to a push is a few header fields and no body, and one with FCM's JSON for all messages of
 * a project.
 */

import { randomBytes } from 'node:crypto';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createAccounts } from '../../packages/simulator/src/accounts.ts';
import { createCertificate } from '../../packages/simulator/src/server/certificate.ts';
import type { FcmCredential } from '../../src/providers/fcm/credential.ts';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { findProgram, startServer } from '../../test/support/programs.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { credentialOf } from './credential.ts';
import type { Sink } from './sink.ts';
import { makeFcmTokens, makeTokens } from './tokens.ts';

/**
 * nghttpd keeps the last 2,048 files open; twice as many tokens are 5 % slower, one alone is no
 * faster.
 */
const APNS_TOKENS = 1_000;
const FCM_TOKENS = 50_000;
/** The limits of APNs and FCM. */
const APNS_STREAMS_MAX = 1_000;
const FCM_STREAMS_MAX = 100;
/** 16 MiB: the sink says WINDOW_UPDATE seldom enough not to matter. */
const CONNECTION_WINDOW_BITS = 24;
/** One time for all files: `last-modified` is then the same in every answer, and costs one byte. */
const MODIFIED = new Date('2026-01-01T00:00:00Z');

/** Null, with a word to the console, when nghttpd is not installed. */
export async function startNghttpdSink(stage: Lifetime): Promise<Sink | null> {
  const tokens = makeTokens(APNS_TOKENS);
  const files = tokens.map((token) => ({ path: `/3/device/${token}`, content: '' }));
  const server = await startNghttpd(stage, files, APNS_STREAMS_MAX);
  if (server === null) return null;
  return { ...server, ...(await credentialOf(await createAccounts())), tokens };
}

/** The same for FCM: every message gets the same answer, which says a name for it as FCM does. */
export async function startNghttpdFcmSink(stage: Lifetime): Promise<Sink<FcmCredential> | null> {
  const { serviceAccount } = (await createAccounts()).fcm;
  const project = `projects/${serviceAccount.project_id}`;
  const name = `${project}/messages/0:1780000000000000%4f8e2a6c4f8e2a6c`;
  const content = `{\n  "name": "${name}"\n}\n`;
  const files = [{ path: `/v1/${project}/messages:send`, content }];
  const server = await startNghttpd(stage, files, FCM_STREAMS_MAX);
  if (server === null) return null;
  return {
    ...server,
    credential: { kind: 'fcm', serviceAccount },
    // The length of Google's.
    authorization: `Bearer ya29.${randomBytes(96).toString('base64url')}`,
    tokens: makeFcmTokens(FCM_TOKENS),
  };
}

interface File {
  readonly path: string;
  readonly content: string;
}

async function startNghttpd(stage: Lifetime, files: readonly File[], streamsMax: number) {
  const nghttpd = findProgram('nghttpd');
  if (nghttpd === null) {
    console.log('(nghttpd is not installed: no rows for it, and no ratios)');
    return null;
  }
  const directory = temporaryDirectory(stage);
  const { certificatePem, privateKeyPem } = await createCertificate('127.0.0.1');
  const certificateFile = join(directory, 'certificate.pem');
  const keyFile = join(directory, 'key.pem');
  const documentRoot = join(directory, 'htdocs');
  writeFileSync(certificateFile, certificatePem);
  writeFileSync(keyFile, privateKeyPem);
  for (const file of files) writeDocument(documentRoot, file);
  const [port = 0] = await startServer(stage, 1, ([port]) => [
    nghttpd,
    '--address=127.0.0.1',
    `--htdocs=${documentRoot}`,
    '--workers=1',
    `--max-concurrent-streams=${streamsMax}`,
    `--connection-window-bits=${CONNECTION_WINDOW_BITS}`,
    String(port),
    keyFile,
    certificateFile,
  ]);
  return { name: 'nghttpd', host: '127.0.0.1', port, ca: certificatePem } as const;
}

function writeDocument(root: string, { path, content }: File): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  utimesSync(file, MODIFIED, MODIFIED);
}
