/**
 * Bare `node:http2` to FCM: a session with as many streams as FCM allows, a request for each
 * message.
 */

import { once } from 'node:events';
import { connect } from 'node:http2';
import type { FcmCredential } from '../../src/providers/fcm/credential.ts';
import { renderFcm } from '../../src/providers/fcm/message.ts';
import { NEWS } from '../push.ts';
import { originOf } from '../sinks/sink.ts';
import type { Open } from './flow.ts';

const STREAMS_MAX = 100;

export const nodeHttp2Fcm: Open<FcmCredential> = async (sink, settled) => {
  const session = connect(originOf(sink), { ca: sink.ca, settings: { enablePush: false } });
  await once(session, 'remoteSettings');
  const { authorization } = sink;
  const { pathBefore, bodyBefore, bodyAfter, lastingFields } = renderFcm(
    NEWS,
    sink.credential,
    0,
  ).token;
  const before = bodyBefore.toString();
  const after = bodyAfter.toString();
  const fields = { ':method': 'POST', ':path': pathBefore, authorization, ...lastingFields };
  return {
    hasRoom: (underWay) => underWay < STREAMS_MAX,
    push: (token, position) => {
      const stream = session.request(fields);
      stream.once('response', (headers) => {
        // Not before the stream is free for another.
        stream.once('end', () => {
          settled(position, headers[':status'] === 200 ? undefined : headers);
        });
        stream.resume();
      });
      stream.end(before + token + after);
    },
    close: () => session.close(),
  };
};
