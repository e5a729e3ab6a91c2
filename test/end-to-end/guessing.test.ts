/**
 * Strangers without a credential ask every open route: however many connections they have, a read
 * with a credential does not wait for them to get a connection to the database.
 */

import postgres from 'postgres';
import t from 'tap';
import { connect } from '../../src/database/sql.ts';
import type { Route } from '../../src/http/handler.ts';
import { PASSWORD } from '../support/accounts.ts';
import { ask, makeAgent } from '../support/route-fuzz/ask.ts';
import { nameOf, validRequest } from '../support/route-fuzz/valid.ts';
import { makeWorld } from '../support/route-fuzz/world.ts';
import { startService } from '../support/service.ts';
import { withPostgresStore } from '../support/store.ts';
import { untilLockWaits } from '../support/until-lock-waits.ts';

/** Guesses of each kind: more than the common pool has connections. */
const GUESSES = 24;
/** Look-ups of links, and of accounts. */
const LOOK_UPS_AT_ONCE = 2;
const TOKEN = 'tcl_guessed';

/** Bodies of strangers, all different; a new open route belongs here. */
const GUESSED: Readonly<Record<string, readonly ((n: number) => object)[]>> = {
  'POST /console/api/session': [
    (n) => ({ link: `${TOKEN}${n}` }),
    (n) => ({ email: `nobody-${n}@example.com`, password: PASSWORD }),
  ],
  'POST /console/api/password/reset': [(n) => ({ token: `${TOKEN}${n}`, newPassword: PASSWORD })],
  'POST /console/api/register': [
    (n) => ({ email: `nobody-${n}@example.com`, password: PASSWORD, invitation: `${TOKEN}${n}` }),
    (n) => ({ email: `nobody-${n}@example.com`, password: PASSWORD, clientName: 'Acme' }),
  ],
};

const isForEverybody = (route: Route): boolean =>
  route.api === 'open' || (route.api === 'console' && route.needs === 'nobody');

await withPostgresStore(t, async (t, store) => {
  const { address } = store;
  if (address.kind !== 'postgres') throw new Error('no lock of an embedded database can be held');
  const service = await startService(t, store, {
    SIGN_UP: 'open',
    TRUSTED_PROXIES: '127.0.0.1',
  });
  const { url, routes } = service.engine;
  const world = await makeWorld(service, 'ours');
  const open = routes.filter(isForEverybody);
  t.same(
    open
      .filter(({ method }) => method !== 'GET')
      .map(nameOf)
      .sort(),
    Object.keys(GUESSED).sort(),
    'each route that takes something of strangers is among the guesses',
  );
  const strangers = makeAgent(Number.POSITIVE_INFINITY);
  const publisher = makeAgent(1);
  // No session of the engine: those that are silent in a transaction are ended.
  const holder = postgres(address.url, { max: 1, onnotice: () => undefined });
  const watcher = connect(address, 1);
  t.teardown(async () => {
    strangers.destroy();
    publisher.destroy();
    await Promise.all([holder.end(), watcher.end()]);
  });
  const readKeys = () =>
    ask(publisher, url, {
      method: 'GET',
      segments: ['', 'push-admin-api', 'v3', world.slug, 'keys'],
      query: {},
      headers: { authorization: `Bearer ${world.superToken}` },
      body: undefined,
    });
  t.equal((await readKeys()).status, 200);

  // The pool opens its connections when they are needed, which takes a moment each.
  await Promise.all(Array.from({ length: GUESSES }, () => store.sql`select pg_sleep(0.1)`));

  const guess = (route: Route, n: number) =>
    (GUESSED[nameOf(route)] ?? [() => undefined]).map((bodyOf) =>
      ask(strangers, url, {
        ...validRequest(route, world, () => undefined),
        // A person with a network of its own: counts by network hold up no other.
        headers: { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': `198.51.100.${n}` },
        body: bodyOf(n),
      }),
    );
  const answered: Promise<unknown>[] = [];
  await holder.begin(async (locked) => {
    await locked`lock table one_time_links, accounts in access exclusive mode`;
    for (let n = 1; n <= GUESSES; n += 1) {
      for (const route of open) {
        const asked = guess(route, n);
        // Requests without a reader end with their connections.
        for (const one of asked) one.catch(() => undefined);
        if (route.method === 'GET') answered.push(...asked);
      }
    }
    await Promise.all(answered);
    await untilLockWaits('guesses are looked up', watcher);
    t.equal((await readKeys()).status, 200, 'a read with a credential is answered meanwhile');
    // The housekeeping, which deletes links that have ended, may wait for the lock, too.
    const waiting = await watcher<{ query: string }[]>`
      select query from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
        and query not ilike '%delete from%'`;
    const queries = waiting.map(({ query }) => query.replaceAll(/\s+/g, ' ').slice(0, 80));
    t.ok(waiting.length <= LOOK_UPS_AT_ONCE, `they wait for guesses: ${queries.join('; ')}`);
  });
});
