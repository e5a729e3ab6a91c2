/** Runs a test on every HTTP/2 server that we did not write. */

import type { Test } from 'tap';
import { skipsForbidden } from '../environment.ts';
import { startH2o } from './h2o.ts';
import type { Http2Server, StartHttp2Server } from './http2-server.ts';
import { startNghttpd } from './nghttpd.ts';
import { startNginx } from './nginx.ts';
import { startNodeServer } from './node-server.ts';

const SERVERS: Readonly<Record<string, StartHttp2Server>> = {
  'node:http2': startNodeServer,
  nghttpd: startNghttpd,
  h2o: startH2o,
  nginx: startNginx,
};

/** Runs `body` as one subtest for each server; skips, loudly, those that are not installed. */
export async function onEachHttp2Server(
  t: Test,
  body: (t: Test, server: Http2Server, name: string) => Promise<void>,
): Promise<void> {
  for (const [name, start] of Object.entries(SERVERS)) {
    await t.test(name, async (t) => {
      const server = await start(t);
      if (server !== null) return await body(t, server, name);
      const reason = `${name} is not installed`;
      if (skipsForbidden) t.fail(reason);
      else await t.test(name, { skip: reason }, () => undefined);
    });
  }
}
