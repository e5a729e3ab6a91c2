/**
 * The process of `startPushServiceSink`: takes a certificate, answers with its port, and then every
 * push with 201.
 */

import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Certificate } from '../../packages/simulator/src/server/certificate.ts';

/** Where the message could be asked for (RFC 8030, 5); as long as Mozilla's. */
const LOCATION = `/m/${'a'.repeat(200)}`;
const STREAMS_MAX = 100;

process.once('message', ({ certificatePem, privateKeyPem }: Certificate) => {
  const server = createSecureServer({
    cert: certificatePem,
    key: privateKeyPem,
    allowHTTP1: true,
    settings: { maxConcurrentStreams: STREAMS_MAX },
  });
  server.on('request', (request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(201, { location: LOCATION, ttl: '2419200', 'content-length': 0 });
      response.end();
    });
  });
  server.listen(0, '127.0.0.1', () => {
    process.send?.((server.address() as AddressInfo).port);
  });
});
