/** Debian's nginx with config/nginx.conf in front of two engines. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../support/documents.ts';
import { nginxConfiguration } from '../support/http2-servers/nginx.ts';
import { findProgram, startServer } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { StartProxy } from './behind-proxy.ts';
import { holdBehind } from './behind-proxy.ts';

const nginx = findProgram('nginx');
const options = { skip: nginx === null && 'nginx is not installed' };

/** The file itself, with the ports and the certificate of the test. */
const startNginx: StartProxy = async (t, enginePorts, certificate) => {
  const directory = temporaryDirectory(t, {
    'fullchain.pem': certificate.certificatePem,
    'privkey.pem': certificate.privateKeyPem,
  });
  const file = (name: string): string => join(directory, name);
  const [plainPort = 0, tlsPort = 0] = await startServer(t, 2, ([plain = 0, tls = 0]) => {
    const changed = readFileSync(join(ROOT, 'config', 'nginx.conf'), 'utf8')
      .replace('127.0.0.1:8080', `127.0.0.1:${enginePorts[0]}`)
      .replace('127.0.0.1:8081', `127.0.0.1:${enginePorts[1]}`)
      .replace('listen 80;', `listen 127.0.0.1:${plain};`)
      .replace('listen 443 ssl', `listen 127.0.0.1:${tls} ssl`)
      .replaceAll('/etc/ssl/tagcast', directory);
    writeFileSync(file('tagcast.conf'), changed);
    writeFileSync(
      file('nginx.conf'),
      nginxConfiguration(directory, `include ${file('tagcast.conf')};`),
    );
    return [nginx ?? '', '-p', directory, '-c', file('nginx.conf'), '-e', 'stderr'];
  });
  return { plainPort, tlsPort };
};

t.test('a rolling restart and a kill -9 under load', options, (t) => holdBehind(t, startNginx));
