/** The self-test finds binaries whose handles do not do what the listener needs. */

import t from 'tap';
import { selfTest } from '../../../packages/http1-uws/src/self-test.ts';
import type { Uws, UwsApp, UwsResponse } from '../../../packages/http1-uws/src/uws.ts';
import { onUws } from '../../support/fronts.ts';

const { test } = await onUws(t);

/** The binary, with another app. */
const changed = (uws: Uws, change: (app: UwsApp) => UwsApp): Uws => ({
  ...uws,
  App: () => change(uws.App()),
});

/** An app whose filter gets another handle. */
const filtered = (app: UwsApp, change: (res: UwsResponse) => UwsResponse): UwsApp => ({
  any: (pattern, handler) => app.any(pattern, handler),
  filter: (handler) => app.filter((res, count) => handler(change(res), count)),
  listen: (host, port, take) => app.listen(host, port, take),
});

test('this binary passes', async (t, { uws, hasPorts }) => {
  t.same(await selfTest(uws), { fault: null, hasPorts });
});

test('a handle that is dead after the filter', async (t, { uws }) => {
  const dead = {
    onAborted: () => {
      throw new Error('must not be accessed');
    },
  } as unknown as UwsResponse;
  const broken = changed(uws, (app) => filtered(app, () => dead));
  t.match(await selfTest(broken), { fault: /must not be accessed|is not a function/ });
});

test('a handle that does not report its end', async (t, { uws }) => {
  const broken = changed(uws, (app) =>
    filtered(app, (res) => {
      return new Proxy(res, {
        get: (_, name) => {
          if (name === 'onAborted') return () => res;
          const value = Reflect.get(res, name) as (...args: unknown[]) => unknown;
          return (...args: unknown[]) => value.apply(res, args);
        },
      });
    }),
  );
  t.match(await selfTest(broken), { fault: 'a connection does not report its end' });
});

test('a binary that cannot listen', async (t, { uws }) => {
  const broken = changed(uws, (app) => ({
    any: () => app,
    filter: () => app,
    listen: (_host, _port, take) => {
      take(false);
      return app;
    },
  }));
  t.same(await selfTest(broken), { fault: 'it cannot listen', hasPorts: false });
});
