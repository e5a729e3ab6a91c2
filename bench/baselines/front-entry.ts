/**
 * The bare front: uWebSockets.js that reads the body and answers `OK`, which is all that any
 * service on it could reach.
 */

import { loadUws } from '../../packages/http1-uws/src/load-uws.ts';

process.once('message', () => void serve());

async function serve(): Promise<void> {
  const loaded = await loadUws();
  if (!loaded.ok) throw new Error(`the bare front: ${loaded.reason}`);
  const { uws } = loaded.binary;
  const app = uws.App();
  app.any('/*', (response) => {
    response.onAborted(() => undefined);
    response.onData((_chunk, isLast) => {
      if (isLast) response.cork(() => response.end('OK'));
    });
  });
  app.listen('127.0.0.1', 0, (socket) => {
    if (socket === false) throw new Error('cannot listen');
    process.send?.(uws.us_socket_local_port(socket));
  });
}
