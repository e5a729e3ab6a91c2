import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { makeTag } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';

const PATH = '/push-admin-api/v3/acme/segments';

async function open(t: Test, store: Store) {
  const api = await startJobsApi(t, store, 'acme');
  const { appId, clientId, tagId } = api.tenant;
  await seedDevices(store.sql, { appId, platformId: 3, tagIds: [tagId], count: 3 });
  await makeTag(store.sql, clientId, { sourceId: 'sports' });
  const make = async (name: string, expression: string) => {
    const made = await api.call('POST', PATH, { name, expression });
    t.equal(made.status, 201, JSON.stringify(made.body));
  };
  const push = (audience: string, more = {}) =>
    api.call('POST', '', { audience, payload: { title: 'goal!' }, ...more });
  const expressionOf = async (id: string) =>
    (await api.call('GET', `/${id}`)).body.audience.expression;
  return { ...api, make, submit: push, expressionOf };
}

await onEachStore(t, {
  async 'a segment is made, changed, listed and deleted'(t, store) {
    const { call, make } = await open(t, store);
    await make('swiss', '@country = CH');
    const again = await call('POST', PATH, { name: 'swiss', expression: 'news' });
    t.equal(again.status, 409);
    t.match(await call('GET', PATH), {
      status: 200,
      body: [{ name: 'swiss', expression: '@country = CH', description: null }],
    });
    const changed = await call('PATCH', `${PATH}/swiss`, { description: 'CH' });
    t.match(changed, { status: 200, body: { expression: '@country = CH', description: 'CH' } });
    t.match(await call('GET', `${PATH}/swiss`), { body: { description: 'CH' } });
    await make('both', 'news && $swiss');
    t.match(await call('DELETE', `${PATH}/swiss`), { status: 409, body: { detail: /"both"/ } });
    t.equal((await call('DELETE', `${PATH}/both`)).status, 204);
    t.equal((await call('DELETE', `${PATH}/swiss`)).status, 204);
    t.equal((await call('GET', `${PATH}/swiss`)).status, 404);
    t.equal((await call('DELETE', `${PATH}/swiss`)).status, 404);
  },

  async 'a job keeps the expression as it was'(t, store) {
    const { call, make, submit, expressionOf } = await open(t, store);
    await make('fans', 'news || sports');
    await make('a "b"', '$fans && @country');
    const { body } = await submit('$"a \\"b\\"" && !$fans');
    t.equal(await expressionOf(body.id), '((news || sports) && @country) && !(news || sports)');
    await call('PATCH', `${PATH}/fans`, { expression: 'sports' });
    t.equal(await expressionOf(body.id), '((news || sports) && @country) && !(news || sports)');
    const { body: next } = await submit('$fans');
    t.equal(await expressionOf(next.id), '(sports)');
  },

  async 'what is wrong is told where its name stands'(t, store) {
    const { call, make, submit } = await open(t, store);
    await make('narrow', '@country = CH');
    await make('one', 'news && $narrow');
    for (const [name, inner] of [
      ['two', 'one'],
      ['three', 'two'],
      ['four', 'three'],
    ] as const) {
      await make(name, `$${inner}`);
    }
    const faults: readonly (readonly [string, number, RegExp])[] = [
      ['news && $narow', 8, /no segment \$narow\. Is \$narrow meant\?/],
      ['  $narrow', 2, /tests only narrow/],
      ['sports || $narrow && @plann', 10, /tests only narrow/],
      ['$narrow && news && @contry = CH', 19, /the nearest is country/],
      [`news && ${Array(21).fill('$narrow').join('||')}`, 8 + 20 * 9, /20 tests/],
    ];
    for (const [text, position, message] of faults) {
      t.match(
        await submit(text),
        { status: 400, body: { errors: [{ path: 'audience', position, message }] } },
        text,
      );
    }
    t.equal((await submit('sports || $four')).status, 202);
    const five = await call('POST', PATH, { name: 'five', expression: 'sports || $four' });
    t.match(five, { status: 400, body: { errors: [{ position: 10, message: /5 deep/ }] } });
    const circle = await call('PATCH', `${PATH}/narrow`, { expression: 'sports || $two' });
    t.match(circle, {
      status: 400,
      body: {
        errors: [
          { path: 'expression', position: 10, message: /\$narrow → \$two → \$one → \$narrow/ },
        ],
      },
    });
    const self = await call('POST', PATH, { name: 'self', expression: '$self' });
    t.match(self, { status: 400, body: { errors: [{ message: /cannot contain itself/ }] } });
    const unknown = await call('POST', PATH, { name: 'x', expression: '@contry = CH' });
    t.match(unknown, { status: 400, body: { errors: [{ path: 'expression', position: 0 }] } });
    for (const body of [
      { name: 'x' },
      { name: 'x', expression: 'a &&' },
      { name: '', expression: 'a' },
    ]) {
      t.equal((await call('POST', PATH, body)).status, 400, JSON.stringify(body));
    }
  },

  async 'text that grows with each level stops at its limit'(t, store) {
    const { make, submit, call } = await open(t, store);
    const many = (name: string) => Array(300).fill(name).join('||');
    await make('a', many('news'));
    const tooLong = { status: 400, body: { errors: [{ message: /65536 characters/ }] } };
    t.match(await call('POST', PATH, { name: 'b', expression: many('$a') }), tooLong);
    t.match(await submit(many('$a')), tooLong);
  },

  async 'a repeated push is answered as before when its segment has gone'(t, store) {
    const { call, make, baseUrl, tenant } = await open(t, store);
    await make('fans', 'news');
    const submit = async () => {
      const response = await fetch(`${baseUrl}/push-api/v3/acme/notifications`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tenant.superUser.token}`,
          'idempotency-key': 'once',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ audience: '$fans', payload: { title: 'goal!' } }),
      });
      return { status: response.status, ...((await response.json()) as { id?: string }) };
    };
    const first = await submit();
    t.equal((await call('DELETE', `${PATH}/fans`)).status, 204);
    t.strictSame(await submit(), first);
  },

  async 'an estimate counts one that only narrows among everybody'(t, store) {
    const { call, make } = await open(t, store);
    await make('fans', 'news');
    await make('abroad', '!(@country = CH)');
    for (const name of ['fans', 'abroad']) {
      const { status, body } = await call('POST', `${PATH}/${name}/estimate`);
      t.equal(status, 200, JSON.stringify(body));
      t.equal(
        body.audience.reduce((sum: number, one: { count: number }) => sum + one.count, 0),
        3,
        name,
      );
    }
    t.equal((await call('POST', `${PATH}/none/estimate`)).status, 404);
  },

  async 'keys change segments with the scope admin, and see none with a limit'(t, store) {
    const { call, make, key, tenant, submit } = await open(t, store);
    await make('fans', 'news');
    const reading = await key({ scopes: ['read'] });
    const limited = await key({ scopes: ['read', 'send', 'admin'], tagIds: [tenant.tagId] });
    t.equal((await call('GET', PATH, undefined, reading)).status, 200);
    t.equal((await call('DELETE', `${PATH}/fans`, undefined, reading)).status, 403);
    for (const [method, path, body] of [
      ['GET', PATH],
      ['GET', `${PATH}/fans`],
      ['POST', PATH, { name: 'x', expression: 'news' }],
      ['PATCH', `${PATH}/fans`, { description: 'x' }],
      ['DELETE', `${PATH}/fans`],
      ['POST', `${PATH}/fans/estimate`],
    ] as const) {
      t.equal((await call(method, path, body, limited)).status, 403, `${method} ${path}`);
    }
    const sent = await call(
      'POST',
      '',
      { audience: '$fans', payload: { title: 'x' }, dryRun: true },
      limited,
    );
    t.equal(sent.status, 200);
    t.match(await call('POST', '', { audience: '$fan', payload: { title: 'x' } }, limited), {
      status: 403,
    });
    const foreign = await startJobsApi(t, store, 'foreign');
    t.match(await foreign.call('POST', '', { audience: '$fans', payload: { title: 'x' } }), {
      status: 400,
      body: { errors: [{ message: /no segment \$fans\.$/ }] },
    });
    t.equal((await submit('$fans')).status, 202);
  },
});
