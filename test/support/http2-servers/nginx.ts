/**
 * nginx, which most pushes of this world pass on their way in. It says GOAWAY after 1,000 requests,
 * as it does by default.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifetime } from '../lifetime.ts';
import { findProgram, startServer } from '../programs.ts';
import type { Http2Server } from './http2-server.ts';
import { serverAt } from './http2-server.ts';
import type { Site } from './site.ts';
import { ECHO_PATH, makeSite, startEchoUpstream } from './site.ts';

/**
 * Plain text that ends in how many connections it has accepted and handled, and how many requests,
 * this one included.
 */
export const NGINX_COUNTS_PATH = '/counts';

export async function startNginx(t: Lifetime): Promise<Http2Server | null> {
  const nginx = findProgram('nginx');
  if (nginx === null) return null;
  const site = await makeSite(t);
  const upstream = await startEchoUpstream(t);
  const file = join(site.directory, 'nginx.conf');
  const ports = await startServer(t, 2, ([tlsPort = 0, cleartextPort = 0]) => {
    writeFileSync(file, configurationOf(site, upstream, tlsPort, cleartextPort));
    return [nginx, '-p', site.directory, '-c', file, '-e', 'stderr'];
  });
  return serverAt(site.certificate.certificatePem, ports);
}

const configurationOf = (
  { directory, documentRoot, certificateFile, keyFile }: Site,
  upstream: string,
  tlsPort: number,
  cleartextPort: number,
): string =>
  nginxConfiguration(
    directory,
    `
  client_max_body_size 0;
  ssl_certificate ${certificateFile};
  ssl_certificate_key ${keyFile};
  server {
    listen 127.0.0.1:${tlsPort} ssl http2;
    listen 127.0.0.1:${cleartextPort} http2;
    location / { root ${documentRoot}; }
    location = ${NGINX_COUNTS_PATH} { stub_status; }
    location = ${ECHO_PATH} { proxy_pass ${upstream}; }
  }`,
  );

/**
 * One process in the foreground (a worker would outlive a killed master), and every file it may
 * write below the directory. `servers`: the rest of the block `http`.
 */
export const nginxConfiguration = (directory: string, servers: string): string => `
daemon off;
master_process off;
pid ${directory}/nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path ${directory}/client-body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  ${servers}
}
`;
