/**
 * Bare `node:http2`: a session, a request for each push, and as soon as its status is there it is
 * settled.
 */

import { once } from 'node:events';
import { connect } from 'node:http2';
import { renderPush } from '../push.ts';
import { originOf } from '../sinks/sink.ts';
import { inProcess } from './in-process.ts';

export const nodeHttp2 = inProcess('node:http2', async (sink, settled) => {
  const session = connect(originOf(sink), { ca: sink.ca, settings: { enablePush: false } });
  // Before, it would hold back what is beyond a hundred streams.
  await once(session, 'remoteSettings');
  // Its streams would then end without a response, and the round would wait for them.
  const onClose = (): void => {
    throw new Error(`${sink.name} closed the session`);
  };
  session.once('close', onClose);
  const { authorization } = sink;
  const { pathBefore, bodyBefore, lastingFields, messageFields } = renderPush(sink);
  return {
    push: (token, position) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': pathBefore + token,
        authorization,
        ...lastingFields,
        ...messageFields,
      });
      stream.once('response', (headers) => {
        settled(position, headers[':status'] === 200 ? undefined : headers);
      });
      stream.resume();
      stream.end(bodyBefore);
    },
    close: () => {
      session.off('close', onClose);
      session.close();
    },
  };
});
