/** h2o, which has an HTTP/2 implementation of its own. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifetime } from '../lifetime.ts';
import { findProgram, startServer } from '../programs.ts';
import type { Http2Server } from './http2-server.ts';
import { serverAt } from './http2-server.ts';
import type { Site } from './site.ts';
import { ECHO_PATH, makeSite, startEchoUpstream } from './site.ts';

export async function startH2o(t: Lifetime): Promise<Http2Server | null> {
  const h2o = findProgram('h2o');
  if (h2o === null) return null;
  const site = await makeSite(t);
  const upstream = await startEchoUpstream(t);
  const file = join(site.directory, 'h2o.json');
  const ports = await startServer(t, 2, ([tlsPort = 0, cleartextPort = 0]) => {
    // YAML is what it reads, and JSON is YAML.
    const configuration = configurationOf(site, upstream, tlsPort, cleartextPort);
    writeFileSync(file, JSON.stringify(configuration));
    return [h2o, '--mode=worker', `--conf=${file}`];
  });
  return serverAt(site.certificate.certificatePem, ports);
}

/** A host for each port: only there can more than one `listen` stand in JSON. */
function configurationOf(
  { directory, documentRoot, certificateFile, keyFile }: Site,
  upstream: string,
  tlsPort: number,
  cleartextPort: number,
) {
  const ssl = {
    'certificate-file': certificateFile,
    'key-file': keyFile,
    // Otherwise a second process holds the key, and would outlive a kill.
    neverbleed: 'OFF',
  };
  const paths = {
    '/': { 'file.dir': documentRoot },
    [ECHO_PATH]: { 'proxy.reverse.url': upstream },
  };
  return {
    // Started by root it would change to a user who may not read a temporary directory.
    ...(process.getuid?.() === 0 ? { user: 'root' } : {}),
    'num-threads': 1,
    'temp-buffer-path': directory,
    hosts: {
      tls: { listen: { host: '127.0.0.1', port: tlsPort, ssl }, paths },
      cleartext: { listen: { host: '127.0.0.1', port: cleartextPort }, paths },
    },
  };
}
