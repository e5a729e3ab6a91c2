/**
 * nghttpd, of the authors of nghttp2: pads its frames, ends bodies with a trailer, echoes uploads
 * itself.
 */

import type { Lifetime } from '../lifetime.ts';
import { findProgram, startServer } from '../programs.ts';
import type { Http2Server } from './http2-server.ts';
import { serverAt } from './http2-server.ts';
import { makeSite } from './site.ts';

/** At the end of every answer that has a body. */
export const NGHTTPD_TRAILER: readonly [name: string, value: string] = ['x-trailer', 'the end'];

/** At most so many bytes of padding in each frame. */
const PADDING_BYTES_MAX = 64;

export async function startNghttpd(t: Lifetime): Promise<Http2Server | null> {
  const nghttpd = findProgram('nghttpd');
  if (nghttpd === null) return null;
  const { documentRoot, certificate, certificateFile, keyFile } = await makeSite(t);
  const options = [
    '--address=127.0.0.1',
    `--htdocs=${documentRoot}`,
    '--echo-upload',
    `--padding=${PADDING_BYTES_MAX}`,
    `--trailer=${NGHTTPD_TRAILER.join(': ')}`,
  ];
  // It speaks either with TLS or without.
  const tls = await startServer(t, 1, ([port]) => [
    nghttpd,
    ...options,
    String(port),
    keyFile,
    certificateFile,
  ]);
  const cleartext = await startServer(t, 1, ([port]) => [
    nghttpd,
    ...options,
    '--no-tls',
    String(port),
  ]);
  return serverAt(certificate.certificatePem, [...tls, ...cleartext]);
}
