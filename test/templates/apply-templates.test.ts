/** The results of templates for each (app, platform), and their faults. */

import t from 'tap';
import { TEMPLATE_FAULTS_MAX, TEMPLATES_PER_PUSH_MAX } from '../../src/domain/template.ts';
import { applyTemplates } from '../../src/templates/apply-templates.ts';
import { evaluator } from '../support/evaluator.ts';

const GIVEN = { home: 'FCB', away: 'BVB', score: { home: 1, away: 0 }, priority: 10 };
const TITLE = '{"title": home & "–" & away}';

const apply = (...expressions: readonly string[]) =>
  applyTemplates(
    evaluator,
    1,
    GIVEN,
    expressions.map((expression, index) => ({
      appId: index + 1,
      platformId: index % 2 === 0 ? 3 : 15,
      expression,
    })),
  );

const faultOf = async (expression: string): Promise<string> => {
  const applied = await apply(expression);
  if (applied.kind !== 'invalid') throw new Error(applied.kind);
  t.equal(applied.faults.length, 1);
  t.equal(applied.faults[0]?.path, 'payload');
  return applied.faults[0]?.message ?? '';
};

t.test('the common form, read as a payload is', async (t) => {
  const more = '{"body": $string(score.home), "badge": "3", "ttl": 60, "match": home}';
  t.strictSame(await apply(TITLE, more, TITLE), {
    kind: 'made',
    payloads: {
      '1.3': { title: 'FCB–BVB', data: {} },
      '2.15': { message: '1', badge: 3, ttlSeconds: 60, data: { match: 'FCB' } },
      '3.3': { title: 'FCB–BVB', data: {} },
    },
  });
});

t.test("the provider's form alone is enough", async (t) => {
  const apns = '{"apns": {"aps": {"alert": {"loc-key": "GOAL", "loc-args": [home]}}}}';
  t.strictSame(await apply(apns), {
    kind: 'made',
    payloads: {
      '1.3': { apns: { aps: { alert: { 'loc-key': 'GOAL', 'loc-args': ['FCB'] } } }, data: {} },
    },
  });
});

t.test('a failure names app, platform, and what went wrong where', async (t) => {
  t.equal(
    await faultOf('{"title": $foo(home)}'),
    'The template of app 1 on platform 3 (APNs) fails on this payload at position 11: Attempted to invoke a non-function (T1006).',
  );
});

t.test('what cannot be sent is told: its form, its size, or that it is nothing', async (t) => {
  t.match(await faultOf('home'), /makes something that is no object\.$/);
  t.match(
    await faultOf('{"title": home, "badge": "many", "ttl": -1}'),
    /cannot be sent: payload\.badge must be a number\. payload\.ttl must be 0 or more\.$/,
  );
  t.match(await faultOf('{"title": ""}'), /cannot be sent: payload shows nothing on any platform/);
  t.match(
    await faultOf('{"title": $pad("", 5000, "x")}'),
    /payload is \d+ bytes once rendered for platform 3 \(APNs\); the limit is 4096\.$/,
  );
  const reserved = '{"title": home, "data": {"from": 1}}';
  t.equal((await apply(reserved)).kind, 'made', 'APNs reserves it not');
  t.match(await apply(TITLE, reserved), { kind: 'invalid', faults: [{ message: /by FCM/ }] });
  t.match(await faultOf('{"title": "\\u0000"}'), /NUL character/);
  t.match(
    await faultOf('{"title": home, "id": $number("1234567890123456789")}'),
    /cannot be sent: payload\.id is beyond 2\^53, where numbers lose digits; write it as a string\.$/,
  );
});

t.test('all faults are told together', async (t) => {
  const applied = await apply('home', TITLE, '{}');
  t.match(applied, {
    kind: 'invalid',
    faults: [{ message: /of app 1 / }, { message: /of app 3 / }],
  });
  t.ok(applied.kind === 'invalid' && applied.faults.length === 2);
});

t.test('so many templates may concern a push, and so many failures are told', async (t) => {
  const many = Array.from({ length: TEMPLATES_PER_PUSH_MAX }, () => 'home');
  const failed = await apply(...many);
  t.ok(failed.kind === 'invalid' && failed.faults.length === TEMPLATE_FAULTS_MAX);
  t.match(failed, { faults: [{ message: /no object/ }] });
  t.match(await apply(...many, 'home'), {
    kind: 'invalid',
    faults: [{ path: 'appIds', message: /concerns 301 templates .* the limit is 300\./ }],
  });
});

t.test('one that uses up the time is told, and not those after it', async (t) => {
  const applied = await apply('($f := function($x) { $f($x) }; $f(1))', TITLE);
  t.match(applied, {
    kind: 'invalid',
    faults: [
      { message: /of app 1 on platform 3 .*It does not end within the 1000 ms of a processor/ },
    ],
  });
  t.ok(applied.kind === 'invalid' && applied.faults.length === 1);
});
