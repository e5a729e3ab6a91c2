/**
 * A push service of browsers: one server of `node:http2` that speaks HTTP/2 and HTTP/1.1, whichever
 * a client asks for, so that all clients have the same one. It looks at nothing and takes
 * everything; a process of its own, so that its CPU is not counted.
 */

import { fork } from 'node:child_process';
import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Certificate } from '../../packages/simulator/src/server/certificate.ts';
import { createCertificate } from '../../packages/simulator/src/server/certificate.ts';
import type { WebPushCredential } from '../../src/providers/webpush/credential.ts';
import type { Lifetime } from '../../test/support/lifetime.ts';
import type { Sink } from './sink.ts';

const ENTRY = join(import.meta.dirname, 'push-service-entry.js');
/** Each has keys of its own, as browsers do. */
const SUBSCRIPTIONS = 1_000;
const AUTH_BYTES = 16;

export async function startPushServiceSink(stage: Lifetime): Promise<Sink<WebPushCredential>> {
  const host = '127.0.0.1';
  const certificate = await createCertificate(host);
  const port = await startServer(stage, certificate);
  const { publicKey, privateKey } = makeKeys();
  const subject = 'https://push.example.org/';
  return {
    name: 'node:http2',
    host,
    port,
    ca: certificate.certificatePem,
    credential: {
      kind: 'webpush',
      vapid: { publicKey, privateKey, subject },
      serviceAccount: null,
    },
    // Made by each client itself: it is for one origin.
    authorization: '',
    tokens: Array.from({ length: SUBSCRIPTIONS }, (_, index) =>
      JSON.stringify({
        endpoint: `https://${host}:${port}/wpush/v2/${randomBytes(96).toString('base64url')}${index}`,
        expirationTime: null,
        keys: {
          p256dh: makeKeys().publicKey,
          auth: randomBytes(AUTH_BYTES).toString('base64url'),
        },
      }),
    ),
  };
}

function makeKeys(): { readonly publicKey: string; readonly privateKey: string } {
  const ecdh = createECDH('prime256v1');
  const publicKey = ecdh.generateKeys('base64url');
  return { publicKey, privateKey: ecdh.getPrivateKey('base64url') };
}

async function startServer(stage: Lifetime, certificate: Certificate): Promise<number> {
  const child = fork(ENTRY, { execArgv: ['--enable-source-maps'] });
  stage.teardown(() => child.kill('SIGKILL'));
  child.send(certificate);
  const [port] = await once(child, 'message');
  return port as number;
}
