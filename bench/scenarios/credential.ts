/**
 * Measures the check of a credential that a node knows: from the Authorization header to its caller
 * and the caller's rates, as the head of a request waits for it.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Authenticator } from '../../src/access/authenticate.ts';
import type { ShownCredential } from '../../src/access/credentials.ts';
import { createCredential } from '../../src/access/credentials.ts';
import { createSecrets } from '../../src/access/secrets.ts';
import { CallerRates } from '../../src/api/caller-rates.ts';
import { changeClientLimits } from '../../src/clients/client-limits.ts';
import { insertClient } from '../../src/clients/insert-client.ts';
import { openEmbedded } from '../../src/database/store.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { median } from '../median.ts';
import type { Row, Scenario } from '../scenario.ts';

/** The number that a node remembers. */
const CREDENTIALS = 10_000;
const NO_LIMIT = 2_000_000_000;
/** Short: between them the node learns whether a credential was taken away. */
const CHECKS_PER_TURN = 1_000;
const TURNS_PER_ROUND = 50;
/** The first ones are not counted: code becomes hot in them. */
const ROUNDS_FIRST = 3;
const ROUNDS = 11;
/** The clock is read twice for a single check, which takes a part of what it measures. */
const SINGLE_CHECKS = 50_000;

export const credential: Scenario = {
  summary: `checks of known credentials, one of them all the time and ${CREDENTIALS.toLocaleString('en')} in turn; medians of ${ROUNDS} rounds; one thread, no HTTP`,
  async run(stage) {
    const store = await openEmbedded(temporaryDirectory(stage), { fsync: true });
    stage.teardown(() => store.close());
    const secrets = createSecrets('a secret for the bench only, long enough');
    const clientId = await insertClient(store.sql, { slug: 'bench', name: 'bench' });
    if (clientId === null) throw new Error('there is a client already');
    // More than a thread can check: none of them is refused.
    await changeClientLimits(store.sql, 'bench', {
      requestsPerSecond: NO_LIMIT,
      credentialRequestsPerSecond: NO_LIMIT,
    });
    const owner = { clientId, clientSlug: 'bench', appId: null };
    const made: ShownCredential[] = [];
    await store.sql.begin(async (tx) => {
      for (let n = 0; n < CREDENTIALS; n += 1)
        made.push(await createCredential(tx, secrets, owner));
    });
    const authenticator = new Authenticator(store.sql, secrets);
    const rows: Row[] = [];
    for (const method of ['Bearer', 'Basic'] as const) {
      for (const count of [1, CREDENTIALS]) {
        const headers = made.slice(0, count).map((one) => headerOf(method, one));
        rows.push({ method, credentials: count, ...(await measure(authenticator, headers)) });
      }
    }
    return { rows };
  },
};

const headerOf = (method: 'Bearer' | 'Basic', { token, username, password }: ShownCredential) =>
  method === 'Bearer'
    ? `Bearer ${token}`
    : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

async function measure(authenticator: Authenticator, headers: readonly string[]) {
  const rates = new CallerRates();
  const check = (header: string): void => {
    const caller = authenticator.recall(header);
    if (caller === null || typeof caller === 'string') throw new Error(`it is ${caller}`);
    const over = rates.take('requests', caller, performance.now());
    if (over !== null) throw new Error(`it is beyond ${over.name}`);
  };
  let next = 0;
  const headerInTurn = (): string => {
    next = (next + 1) % headers.length;
    return headers[next] ?? '';
  };
  const rounds: number[] = [];
  await Promise.all(headers.map((header) => authenticator.authenticate(header)));
  for (let round = 0; round < ROUNDS_FIRST + ROUNDS; round += 1) {
    let spentMs = 0;
    for (let turn = 0; turn < TURNS_PER_ROUND; turn += 1) {
      await othersHaveTheirTurn(authenticator, headers);
      const beganMs = performance.now();
      for (let n = 0; n < CHECKS_PER_TURN; n += 1) check(headerInTurn());
      spentMs += performance.now() - beganMs;
    }
    if (round >= ROUNDS_FIRST) rounds.push((spentMs * 1_000) / (TURNS_PER_ROUND * CHECKS_PER_TURN));
  }
  const single: number[] = [];
  for (let n = 0; n < SINGLE_CHECKS; n += 1) {
    if (n % CHECKS_PER_TURN === 0) await othersHaveTheirTurn(authenticator, headers);
    const header = headerInTurn();
    const beganMs = performance.now();
    check(header);
    single.push((performance.now() - beganMs) * 1_000);
  }
  single.sort((one, other) => one - other);
  return {
    checkMicros: median(rounds),
    p99Micros: single[Math.floor(SINGLE_CHECKS * 0.99)] ?? null,
  };
}

/** In it the node asks what was taken away. What it learned holds for all credentials. */
async function othersHaveTheirTurn(
  authenticator: Authenticator,
  [first = '']: readonly string[],
): Promise<void> {
  await nextTurn();
  if (authenticator.recall(first) === null) await authenticator.authenticate(first);
}
