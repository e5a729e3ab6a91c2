/** A retraction: what apps can remove is gone, what browsers show may have another text. */

import t from 'tap';
import {
  ANDROID,
  DEVICES,
  ended,
  IOS,
  isBalanced,
  staged,
  startScene,
} from '../../support/correction-scene.ts';
import { onEachStore } from '../../support/on-each-store.ts';

t.setTimeout(180_000);

await onEachStore(t, {
  async 'remove: shown ones go, nothing more is sent'(t, store) {
    const { api, fanOut, screens } = await startScene(t, store, 'removed');
    const id = await api.push({ payload: { title: 'wrong' }, pauseAfter: 40 });
    await staged(api, id);
    const answer = await api.call('POST', `/${id}/retract`);
    t.match(answer, {
      status: 202,
      body: {
        retracts: id,
        promise: [
          { platformId: IOS, how: 'background', promise: 'best-effort' },
          { platformId: ANDROID, how: 'data', promise: 'best-effort' },
        ],
      },
    });
    const first = await ended(api, id);
    t.match(first, { state: 'CANCELLED', retractedBy: [answer.body.id] });
    const retraction = await ended(api, answer.body.id);
    t.ok(isBalanced(retraction));
    t.match(retraction, { retracts: id, totalCount: first.successCount, corrects: undefined });
    t.ok((await screens()).every(({ shown }) => shown.length === 0));
    t.match(await api.call('POST', `/${id}/correct`, { payload: { title: 'x' } }), {
      status: 409,
      body: { detail: /was retracted by/ },
    });
    t.match(await api.call('POST', `/${id}/retry`, { payload: { title: 'x' } }), { status: 409 });
    await fanOut.drain();
  },

  async 'a correction goes with what it has corrected; on one platform alone'(t, store) {
    const { api, fanOut, screens } = await startScene(t, store, 'both');
    const id = await api.push({ payload: { title: 'wrong', collapseId: 'a' } });
    await ended(api, id);
    const correction = await api.call('POST', `/${id}/correct`, { payload: { title: 'worse' } });
    await ended(api, correction.body.id);
    const body = { platformIds: [IOS] };
    const retraction = await api.call('POST', `/${correction.body.id}/retract`, body);
    t.match(retraction, { status: 202, body: { retracts: id, promise: [{ platformId: IOS }] } });
    t.equal(retraction.body.promise.length, 1);
    await ended(api, retraction.body.id);
    for (const { platformId, shown } of await screens()) {
      t.equal(shown.length, platformId === IOS ? 0 : 1);
    }
    const other = { mode: 'replace', text: { message: 'withdrawn' }, platformIds: [ANDROID] };
    const replaced = await api.call('POST', `/${id}/retract`, other);
    t.match(replaced, {
      status: 202,
      body: { promise: [{ how: 'replace', promise: 'replaced' }] },
    });
    t.match(await ended(api, replaced.body.id), { state: 'FINISHED' });
    for (const { platformId, shown } of await screens()) {
      if (platformId === ANDROID) t.match(shown, [{ body: 'withdrawn', identity: 'a' }]);
    }
    t.equal((await screens()).length, DEVICES);
    await fanOut.drain();
  },

  async 'faults of the request'(t, store) {
    const { api, fanOut } = await startScene(t, store, 'faults');
    const id = await api.push();
    await ended(api, id);
    for (const [body, path] of [
      [{ mode: 'replace' }, 'text'],
      [{ mode: 'replace', text: null }, 'text'],
      [{ mode: 'undo' }, 'mode'],
      [{ text: {} }, 'text'],
      [{ text: 'x' }, 'text'],
      [{ text: { title: 1 } }, 'text.title'],
      [{ text: { title: 'x', url: 'y' } }, 'text.url'],
      [{ payload: {} }, 'payload'],
      [{ platformIds: [33] }, 'platformIds'],
      [{ mode: 'replace', text: { message: 'x'.repeat(4_100) } }, 'text'],
    ] as const) {
      t.match(
        await api.call('POST', `/${id}/retract`, body),
        { status: 400, body: { errors: [{ path }] } },
        path,
      );
    }
    const { body } = await api.call('POST', `/${id}/retract`, { text: { title: 1 } });
    t.equal(body.errors.length, 1, 'one fault');
    const nowhere = await api.call('POST', `/${id}/retract`, { platformIds: [7] });
    t.match(nowhere, { status: 409, body: { detail: /would send nothing/ } });
    t.match((await api.call('GET', `/${id}`)).body, { retractedBy: undefined });
    await fanOut.drain();
  },
});
