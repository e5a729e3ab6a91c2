import t from 'tap';
import { CallerRates } from '../../src/api/caller-rates.ts';
import type { Caller } from '../../src/domain/caller.ts';

t.test('a member of two clients has a bucket in each', (t) => {
  const rates = new CallerRates();
  const member = (clientId: number): Caller => ({
    role: 'key',
    clientId,
    clientSlug: `client-${clientId}`,
    appId: null,
    userName: 'jo@example.com',
    method: 'session',
    limits: { credentialPushesPerSecond: 1, pushesPerSecond: 100 },
  });
  const take = (clientId: number) => rates.take('pushes', member(clientId), 0)?.name ?? null;
  t.equal(take(1), null);
  t.equal(take(1), 'credentialPushesPerSecond');
  t.equal(take(2), null, 'what is used up in one client is there in the other');
  t.end();
});
