/**
 * `firebase-admin`, Google's own client: `sendEach` takes up to 500 messages, opens a session for
 * them, and closes it. Its host is fixed, so where `node:http2` connects to is changed in this
 * process.
 */

import http2 from 'node:http2';
import type { FcmCredential } from '../../src/providers/fcm/credential.ts';
import { NEWS } from '../push.ts';
import { originOf } from '../sinks/sink.ts';
import type { Open } from './flow.ts';
import { loadPeer } from './peer.ts';

interface FirebaseAdminApp {
  initializeApp(options: object): object;
  deleteApp(app: object): Promise<void>;
}

interface FirebaseAdminMessaging {
  getMessaging(app: object): {
    sendEach(messages: readonly object[]): Promise<{
      readonly responses: readonly { readonly success: boolean; readonly error?: Error }[];
    }>;
  };
}

/** The most that it takes in one call. */
const BATCH = 500;
/** Calls at a time: while one shakes hands the other sends. A third is no faster. */
const CALLS = 2;

export const firebaseAdmin: Open<FcmCredential> = (sink, settled) => {
  const { initializeApp, deleteApp } = loadPeer('firebase-admin/app') as FirebaseAdminApp;
  const { getMessaging } = loadPeer('firebase-admin/messaging') as FirebaseAdminMessaging;
  const { connect } = http2;
  http2.connect = ((_url: string, options: object) => {
    const session = connect(originOf(sink), { ...options, ca: sink.ca });
    const request = session.request.bind(session);
    // It says `https:`, with the colon, which Google's servers let pass and nghttpd does not.
    session.request = (fields, options) => request({ ...fields, ':scheme': 'https' }, options);
    return session;
  }) as typeof connect;
  const accessToken = {
    access_token: sink.authorization.slice('Bearer '.length),
    expires_in: 3_600,
  };
  const app = initializeApp({
    projectId: sink.credential.serviceAccount.project_id,
    credential: { getAccessToken: () => Promise.resolve(accessToken) },
  });
  const messaging = getMessaging(app);
  const { title, message: body } = NEWS.payload;
  let tokens: string[] = [];
  let positions: number[] = [];

  const send = async (tokens: readonly string[], positions: readonly number[]): Promise<void> => {
    const messages = tokens.map((token) => ({ token, notification: { title, body } }));
    const { responses } = await messaging.sendEach(messages);
    for (const [index, { success, error }] of responses.entries()) {
      settled(positions[index] ?? 0, success ? undefined : error);
    }
  };
  const flush = (): void => {
    if (tokens.length === 0) return;
    void send(tokens, positions);
    tokens = [];
    positions = [];
  };
  return Promise.resolve({
    hasRoom: (underWay) => underWay < BATCH * CALLS,
    push: (token, position) => {
      tokens.push(token);
      positions.push(position);
      if (tokens.length === BATCH) flush();
      // The last ones of a round may be fewer.
      else if (tokens.length === 1) setImmediate(flush);
    },
    close: async () => {
      http2.connect = connect;
      await deleteApp(app);
    },
  });
};
