/** Beside a real Redis, as config/redis.conf sets it and otherwise. */

import t from 'tap';
import { checkRedis } from '../../src/doctor/redis.ts';
import { startRedis, withRedis } from '../support/redis-server.ts';

await withRedis(t, async (t) => {
  const { url, client } = await startRedis(t);
  const levelOf = async (pattern: RegExp) => {
    const findings = await checkRedis({ kind: 'single', url });
    return findings.find(({ text }) => pattern.test(text))?.level ?? null;
  };
  await client.config('SET', 'maxmemory-policy', 'noeviction');
  t.equal(await levelOf(/^it answers/), 'ok');
  t.equal(await levelOf(/settings are as needed/), 'ok');
  t.equal(await levelOf(/clock|agree/), 'ok');
  await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
  t.equal(await levelOf(/noeviction/), 'problem');
  await client.config('SET', 'maxmemory', '2mb');
  t.match(await levelOf(/of maxmemory/), /ok|warning/);
  await client.config('SET', 'maxmemory', '1mb');
  t.equal(await levelOf(/of maxmemory 1 MiB: raise it/), 'warning');
  await client.config('SET', 'appendonly', 'yes');
  t.equal(await levelOf(/appendonly yes/), 'warning');
});

t.test('one that is not there', async (t) => {
  const findings = await checkRedis({ kind: 'single', url: 'redis://127.0.0.1:1' });
  t.match(findings, [{ level: 'problem', text: /Redis cannot be reached/ }]);
});
