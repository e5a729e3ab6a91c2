/**
 * The bare front: uWebSockets.js that reads the body and answers `OK`, which is all that any
 * service on it could reach.
 */

import uWS from 'uWebSockets.js';

process.once('message', () => {
  const app = uWS.App();
  app.any('/*', (response) => {
    response.onAborted(() => undefined);
    response.onData((_chunk, isLast) => {
      if (isLast) response.cork(() => response.end('OK'));
    });
  });
  app.listen('127.0.0.1', 0, (socket) => {
    if (socket === false) throw new Error('cannot listen');
    process.send?.(uWS.us_socket_local_port(socket));
  });
});
