import t from 'tap';
import { inClient } from '../../../src/access/routes/in-client.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import type { HttpRequest } from '../../../src/http/handler.ts';
import { done, refused } from '../../../src/http/result.ts';
import { addTenant } from '../../support/api.ts';
import { onEachStore } from '../../support/on-each-store.ts';

await onEachStore(t, {
  'a change knows the limits of its client, and is recorded with its origin': async (
    t,
    { sql },
  ) => {
    const { clientId, superUser } = await addTenant(sql, 'demo');
    await sql`update clients set limits = ${sql.json({ webhooks: 3 })} where id = ${clientId}`;
    const caller = { clientId, userName: superUser.username } as Caller;
    const request = { address: '192.0.2.7', requestId: 'r1' } as HttpRequest;
    const asked = { caller, request, path: {}, query: {}, body: null };
    const change = inClient(sql, async (_tx, client) => {
      await client.record({ action: 'app.change', id: 1, name: 'One' });
      return done([client.clientId, client.limits.webhooks]);
    });
    t.match(await change(asked), { ok: true, value: [clientId, 3] });
    const none = inClient(sql, () => Promise.resolve(refused(409, 'No.')));
    t.match(await none(asked), { ok: false, status: 409 });
    const entries = await sql`
      select action, actor_name as actor, address, request_id as "requestId" from audit_entries`;
    t.same(
      [...entries],
      [
        {
          action: 'app.change',
          actor: superUser.username,
          address: '192.0.2.7',
          requestId: 'r1',
        },
      ],
    );
  },
});
