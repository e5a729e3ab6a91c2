import { randomUUID } from 'node:crypto';
import t from 'tap';
import { joinNodes, leaveNodes } from '../../../src/database/nodes/beats.ts';
import { claimMinting } from '../../../src/provider-credentials/sql/claim-minting.ts';
import { readToken } from '../../../src/provider-credentials/sql/read-token.ts';
import { withPostgresStore } from '../../support/store.ts';

await withPostgresStore(t, async (t, { sql }) => {
  const join = (): Promise<number> => joinNodes(sql, 'host', 1);
  const claim = (identity: string, nodeId: number | null): Promise<number | null> =>
    claimMinting(sql, {
      identity,
      seenId: null,
      mintingId: randomUUID(),
      apartMs: 0,
      nodeId,
    });

  await t.test('the right to make a token dies with its node', async (t) => {
    const node = await join();
    const heir = await join();
    t.type(await claim('a', node), 'number');
    t.match(await readToken(sql, 'a', 0), { isBeingMinted: true });
    t.equal(await claim('a', heir), null);
    await leaveNodes(sql, node);
    t.match(await readToken(sql, 'a', 0), { isBeingMinted: false, mintInMs: 0 });
    t.type(await claim('a', heir), 'number');
    t.match(await readToken(sql, 'a', 0), { isBeingMinted: true });
  });

  await t.test('one that lasts longer than any was meant counts as none', async (t) => {
    await claim('d', null);
    t.match(await readToken(sql, 'd', 0), { isBeingMinted: true });
    await sql`
      update provider_tokens set
        minting_until = minting_until + interval '1 hour', retry_at = now() + interval '1 hour',
        frozen_until = now() + interval '1 hour'
      where identity = 'd'`;
    t.match(await readToken(sql, 'd', 0), { isBeingMinted: false, mintInMs: 0, retryInMs: 0 });
    t.type(await claim('d', null), 'number');
  });

  await t.test(
    'that of a process that is no node, or of the version before, does not',
    async (t) => {
      const dead = await join();
      await claim('b', null);
      await claim('c', dead);
      await leaveNodes(sql, dead);
      // The version before claims like this: it knows neither of the columns.
      await sql`update provider_tokens set minting_id = ${randomUUID()}::uuid where identity = 'c'`;
      for (const identity of ['b', 'c']) {
        t.match(await readToken(sql, identity, 0), { isBeingMinted: true });
        t.equal(await claim(identity, await join()), null);
      }
    },
  );
});
