/** One push over `node:http2`, as the servers that pushes are compared with send it. */

import type { ClientHttp2Session } from 'node:http2';
import type { PushTask } from './push-entry.ts';

/** Resolves with the status. */
export function send(
  session: ClientHttp2Session,
  token: string,
  body: string,
  { authorization, topic }: Pick<PushTask, 'authorization' | 'topic'>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': `/3/device/${token}`,
      authorization,
      'apns-topic': topic,
      'apns-push-type': 'alert',
    });
    let status = 0;
    stream.on('response', (headers) => {
      status = Number(headers[':status']);
    });
    stream.on('end', () => resolve(status));
    stream.on('error', reject);
    stream.resume();
    stream.end(body);
  });
}
