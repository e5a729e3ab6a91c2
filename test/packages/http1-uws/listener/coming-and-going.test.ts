/**
 * Connections that come and go leave nothing: no object, no descriptor. A hundred thousand, and the
 * memory of the whole process: test/end-to-end/coming-and-going.long.ts.
 */

import { readdirSync } from 'node:fs';
import type { Test } from 'tap';
import t from 'tap';
import type { Reply, RequestHandler } from '../../../../packages/http1/src/front.ts';
import type { UwsBinary, UwsListenerOptions } from '../../../../packages/http1-uws/src/listener.ts';
import { CertificateOnDisk } from '../../../support/certificate-on-disk.ts';
import { collectedHeapOctets } from '../../../support/collected-heap.ts';
import { onUws } from '../../../support/fronts.ts';
import { comeAndGo } from '../../../support/passing-callers.ts';
import { until } from '../../../support/poll.ts';
import { echo, refuse, startUws } from '../../../support/uws.ts';

const { test } = await onUws(t);

async function leavesNothing(
  t: Test,
  binary: UwsBinary,
  count: number,
  certificate: UwsListenerOptions['certificate'],
): Promise<void> {
  // The reply to a request is its connection.
  const connections = new Set<WeakRef<Reply>>();
  const handler: RequestHandler = {
    begin(head, reply) {
      connections.add(new WeakRef(reply));
      return echo.begin(head, reply);
    },
    refuse,
  };
  const listener = await startUws(t, binary, handler, { certificate });
  const descriptors = readdirSync('/proc/self/fd').length;
  const over = certificate === null ? 'clear text' : 'TLS';
  await comeAndGo({ port: listener.port, over, count });
  await until('all have left', () => (listener.crowd.size === 0 ? true : null));
  t.ok(connections.size > count / 4, `${connections.size} have sent a request`);
  const isKept = (connection: WeakRef<Reply>): boolean => connection.deref() !== undefined;
  await until('nobody holds their objects', () => {
    collectedHeapOctets();
    return [...connections].some(isKept) ? null : true;
  });
  t.equal(readdirSync('/proc/self/fd').length, descriptors);
}

test('in clear text', (t, binary) => leavesNothing(t, binary, 1_500, null));

test('under TLS', async (t, binary) => {
  const { files } = await CertificateOnDisk.make(t);
  await leavesNothing(t, binary, 200, { files, onChanged: () => undefined });
});
