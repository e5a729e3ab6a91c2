/** A record stays within its bounds however much it gets. */

import t from 'tap';
import { LAST_REQUESTS_MAX } from '../../../../packages/simulator/src/record/last-requests.ts';
import { ProviderRecord } from '../../../../packages/simulator/src/record/record.ts';
import {
  PUSHES_PER_TOKEN,
  TOKENS_MAX,
} from '../../../../packages/simulator/src/record/token-table.ts';
import { ConnectionMemory } from '../../../../packages/simulator/src/server/connection-memory.ts';
import type { ProviderRequest } from '../../../../packages/simulator/src/server/exchange.ts';
import { recurringField } from '../../../../packages/simulator/src/server/fields.ts';

function request(body: string): ProviderRequest {
  return {
    method: 'POST',
    path: '/',
    authority: 'localhost',
    fields: [
      recurringField('authorization', 'bearer secret'),
      recurringField('apns-priority', '5'),
    ],
    body: Buffer.from(body),
    connection: new ConnectionMemory(),
  };
}

t.test('it keeps the newest requests whole and the counts of all', (t) => {
  const record = new ProviderRecord();
  for (let index = 0; index <= LAST_REQUESTS_MAX; index += 1) {
    record.accept(`t${index}`, request(`{"n":${index}}`));
  }
  t.match(record.report('t0'), { count: 1, accepted: 1, last: null });
  t.match(record.report('t1'), { last: { headers: { 'apns-priority': '5' }, payload: { n: 1 } } });
  record.reject('Sorry', 't0', request('no JSON'));
  t.match(record.report('t0'), { count: 2, rejected: { Sorry: 1 }, last: { payload: 'no JSON' } });
  t.equal(record.report('t1').last, null, 'it made room');
  t.equal(record.state().tokens, LAST_REQUESTS_MAX + 1);
  t.end();
});

t.test('each lost answer explains one more delivery of its token, and no other', (t) => {
  const record = new ProviderRecord();
  const accept = (token: string, times: number) => {
    for (let time = 0; time < times; time += 1) record.accept(token, request('{}'));
  };
  accept('once', 1);
  record.loseAnswer('once');
  accept('twice', 2);
  record.loseAnswer('twice');
  t.match(record.state(), { lostAnswers: 2, duplicates: 1, unexplainedDuplicates: 0 });
  accept('thrice', 3);
  record.loseAnswer('thrice');
  accept('knowing', 2);
  t.match(record.state(), { lostAnswers: 3, duplicates: 4, unexplainedDuplicates: 2 });
  t.match(record.report('thrice'), { accepted: 3, lostAnswers: 1 });
  t.match(record.report('knowing'), { accepted: 2, lostAnswers: 0 });
  record.loseAnswer('unheard of');
  t.match(record.state(), { lostAnswers: 4, tokens: 4, unexplainedDuplicates: 2 });
  record.reset();
  t.match(record.state(), { lostAnswers: 0, duplicates: 0, unexplainedDuplicates: 0 });
  t.equal(record.report('thrice').lostAnswers, 0);
  t.end();
});

t.test(
  'a device that two pushes reached has no duplicate; one that a push reached twice has',
  (t) => {
    const record = new ProviderRecord();
    const push = (n: number) => request(`{"aps":{},"pushId":"019c6f5e-8a53-7d0e-9d3a-${n}"}`);
    record.accept('phone', push(1));
    record.accept('phone', push(2));
    t.match(record.state(), { accepted: 2, tokens: 1, duplicates: 0, unexplainedDuplicates: 0 });
    t.match(record.report('phone'), { accepted: 2 });
    record.accept('phone', push(1));
    t.match(record.state(), { duplicates: 1, unexplainedDuplicates: 1 }, 'another came in between');
    record.accept('phone', push(2));
    record.loseAnswer('phone');
    t.match(record.state(), { duplicates: 2, unexplainedDuplicates: 1 });
    record.accept('other', push(2));
    record.accept('other', request('{"aps":{}}'));
    t.match(record.state(), { duplicates: 2 });
    record.accept('other', request('{"aps":{}}'));
    t.match(record.state(), { duplicates: 3 }, 'messages without an id count as one push');
    for (let n = 3; n <= PUSHES_PER_TOKEN + 2; n += 1) record.accept('phone', push(n));
    record.accept('phone', push(PUSHES_PER_TOKEN + 2));
    t.match(record.state(), { duplicates: 4 }, 'the newest are remembered');
    record.accept('phone', push(1));
    t.match(record.state(), { duplicates: 4 }, 'of a device the oldest push is forgotten');
    t.end();
  },
);

t.test('beyond the limit tokens are counted, not recorded', (t) => {
  const record = new ProviderRecord();
  const one = request('{}');
  for (let index = 0; index < TOKENS_MAX; index += 1) record.accept(`t${index}`, one);
  record.accept('late', one);
  record.reject('Sorry', 'later', one);
  record.accept('t0', one);
  t.match(record.state(), {
    accepted: TOKENS_MAX + 2,
    rejected: { Sorry: 1 },
    tokens: TOKENS_MAX,
    duplicates: 1,
    notRecorded: 2,
  });
  t.same(record.timesHistogram(), { 1: TOKENS_MAX - 1, 2: 1 });
  t.equal(record.report('late').count, 0);
  t.end();
});
