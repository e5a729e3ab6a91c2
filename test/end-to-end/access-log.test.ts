/** The log lines of an engine about people who come in, or try to. */

import { pino } from 'pino';
import t from 'tap';
import { addAccount, PASSWORD } from '../support/accounts.ts';
import { until } from '../support/poll.ts';
import { startService } from '../support/service.ts';
import { temporaryStore } from '../support/store.ts';

const OPS = 'ops@example.com';
const OPERATOR_TOKEN = 'the-token-of-an-operator-of-this-test';

t.test('wrong credentials and sign-ins of the operator', async (t) => {
  const store = await temporaryStore(t);
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const environment = { OPERATOR_TOKEN, TRUSTED_PROXIES: '127.0.0.1' };
  const { engine } = await startService(t, store, environment, log);
  const accountId = await addAccount(store.sql, {
    email: OPS,
    password: PASSWORD,
    isOperator: true,
  });
  const ask = async (
    path: string,
    address: string,
    { token, body }: { readonly token?: string; readonly body?: object },
  ) => {
    const answer = await fetch(engine.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'Sec-Fetch-Site': 'same-origin',
        'X-Forwarded-For': address,
        'X-Request-Id': address,
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await answer.text();
  };
  const session = '/console/api/session';
  const wrong: readonly (readonly [what: string, path: string, asked: object])[] = [
    ['credential', '/push-api/push', { token: 'tcs_wrong', body: {} }],
    ['credential', '/push-api/reg', { token: 'tca_wrong', body: {} }],
    ['credential', '/operator/v1/system', { token: 'wrong' }],
    ['credential', '/metrics', { token: 'wrong' }],
    ['link', session, { body: { link: 'tcl_wrong' } }],
    ['link', '/console/api/password/reset', { body: { token: 'tcl_no', newPassword: PASSWORD } }],
    ['password', session, { body: { email: OPS, password: 'a wrong password' } }],
    ['password', session, { body: { email: 'nobody@example.com', password: PASSWORD } }],
  ];
  for (const [n, [, path, asked]] of wrong.entries()) {
    for (let time = 0; time < 2; time += 1) await ask(path, `192.0.2.${n}`, asked);
  }
  await ask(session, '192.0.2.100', { body: { email: OPS, password: PASSWORD } });
  await ask('/operator/v1/invitations', '192.0.2.101', { token: OPERATOR_TOKEN, body: {} });
  const said = (text: RegExp) => lines.filter(({ msg }) => text.test(String(msg)));
  t.match(
    said(/^wrong credentials came from an address$/),
    wrong.map(([what], n) => ({ level: 40, what, address: `192.0.2.${n}`, times: 1, others: 0 })),
    'one line each',
  );
  t.equal(said(/^wrong credentials/).length, wrong.length);
  const ofOps = { accountId, requestId: String };
  t.match(said(/has signed in$/), [{ level: 30, ...ofOps, address: '192.0.2.100' }]);
  t.match(said(/^the operator has carried out/), [
    { level: 30, action: 'operator.invite', address: '192.0.2.101', requestId: '192.0.2.101' },
  ]);
  const refused = await until('the refusal is written', () => {
    const found = said(/^a sign-in of the operator, .* was refused$/);
    return found.length === 0 ? null : found;
  });
  t.match(refused, [{ level: 40, ...ofOps, address: '192.0.2.6' }]);
  t.notOk(JSON.stringify(lines).includes('@example.com'), 'no line has an e-mail address');
});
