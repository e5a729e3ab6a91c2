/** Debian's HAProxy with config/haproxy.cfg in front of two engines. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../support/documents.ts';
import { findProgram, startServer } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { StartProxy } from './behind-proxy.ts';
import { holdBehind } from './behind-proxy.ts';

const haproxy = findProgram('haproxy');
const options = { skip: haproxy === null && 'HAProxy is not installed' };

/** The file itself, as the user of the test, with its ports and its certificate. */
const startHaproxy: StartProxy = async (t, enginePorts, certificate) => {
  const directory = temporaryDirectory(t, {
    'tagcast.pem': `${certificate.certificatePem}\n${certificate.privateKeyPem}\n`,
  });
  const file = join(directory, 'haproxy.cfg');
  const [plainPort = 0, tlsPort = 0] = await startServer(t, 2, ([plain = 0, tls = 0]) => {
    const changed = readFileSync(join(ROOT, 'config', 'haproxy.cfg'), 'utf8')
      .replace('127.0.0.1:8080', `127.0.0.1:${enginePorts[0]}`)
      .replace('127.0.0.1:8081', `127.0.0.1:${enginePorts[1]}`)
      .replaceAll(/^ {2}(user|group|chroot) .+$/gm, '')
      .replace('bind :80', `bind 127.0.0.1:${plain}`)
      .replace('bind :443', `bind 127.0.0.1:${tls}`)
      .replaceAll('/etc/haproxy/tagcast.pem', join(directory, 'tagcast.pem'));
    writeFileSync(file, changed);
    return [haproxy ?? '', '-db', '-f', file];
  });
  return { plainPort, tlsPort };
};

t.test('a rolling restart and a kill -9 under load', options, (t) => holdBehind(t, startHaproxy));
