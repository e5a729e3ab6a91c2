/** A push that is held for some seconds, in which it can be taken back. */

import t from 'tap';
import { planDue } from '../../../../src/push/sql/notifications/plan-due.ts';
import { startJobsApi } from '../../../support/jobs-api.ts';
import { onEachStore } from '../../../support/on-each-store.ts';
import { seedDevices } from '../../../support/seed.ts';

await onEachStore(t, {
  async 'it is scheduled, and cancelled before anybody has it'(t, store) {
    const api = await startJobsApi(t, store, 'held');
    const { appId, tagId } = api.tenant;
    await seedDevices(store.sql, { appId, platformId: 3, tagIds: [tagId], count: 3 });
    const id = await api.push({ holdSeconds: 10 });
    const held = (await api.call('GET', `/${id}`)).body;
    t.equal(held.state, 'SCHEDULED');
    t.equal(held.sendAt - held.acceptedAt, 10_000, 'by one clock, the one that it is sent by');
    await planDue(store.sql);
    t.match((await api.call('POST', `/${id}/cancel`)).body, { state: 'CANCELLED' });
    t.match((await api.call('GET', `/${id}`)).body, { state: 'CANCELLED', totalCount: 0 });
    const asked = { tagIds: [tagId], payload: { title: 'goal!' } };
    const faults = async (more: object) =>
      (await api.call('POST', '', { ...asked, ...more })).body.errors;
    t.match(await faults({ holdSeconds: 10, sendAt: Date.now() + 60_000 }), [
      { path: 'holdSeconds', message: /beside sendAt/ },
    ]);
    for (const holdSeconds of [0, -1, 1.5, 3_601, 'soon']) {
      t.match(await faults({ holdSeconds }), [{ path: 'holdSeconds', message: /from 1 to 3600/ }]);
    }
    t.match(await faults({ holdSeconds: 60, expiresAt: Date.now() + 30_000 }), [
      { path: 'expiresAt', message: /later than sendAt/ },
    ]);
  },
});
