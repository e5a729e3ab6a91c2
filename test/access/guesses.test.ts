/** The log lines about callers with wrong credentials. */

import t from 'tap';
import type { GuessReport } from '../../src/access/guesses.ts';
import { Guesses } from '../../src/access/guesses.ts';

/** `WINDOW_MS`. */
const WINDOW_MS = 60_000;
/** `REPORTS_MAX`. */
const REPORTS_MAX = 100;

function makeGuesses() {
  const reports: GuessReport[] = [];
  const clock = { nowMs: 0 };
  const guesses = new Guesses(
    (report) => reports.push(report),
    () => clock.nowMs,
  );
  return { guesses, reports, clock };
}

t.test('one report for a network in a window, with what came since', (t) => {
  const { guesses, reports, clock } = makeGuesses();
  for (let n = 0; n < 5; n += 1) guesses.note('credential', `2001:db8::${n}`);
  guesses.note('credential', '2001:db8:0:1::1');
  guesses.note('password', '2001:db8::1');
  t.same(reports, [
    { what: 'credential', address: '2001:db8::0', times: 1, others: 0 },
    { what: 'credential', address: '2001:db8:0:1::1', times: 1, others: 0 },
    { what: 'password', address: '2001:db8::1', times: 1, others: 0 },
  ]);
  clock.nowMs += WINDOW_MS;
  guesses.note('credential', '2001:db8::7');
  t.same(reports.at(-1), { what: 'credential', address: '2001:db8::7', times: 5, others: 0 });
  t.end();
});

t.test('many networks: so many reports, and the others are counted', (t) => {
  const { guesses, reports, clock } = makeGuesses();
  const addresses = Array.from({ length: REPORTS_MAX + 20 }, (_, n) => `192.0.2.${n}`);
  for (const address of addresses) guesses.note('link', address);
  t.equal(reports.length, REPORTS_MAX);
  clock.nowMs += WINDOW_MS;
  guesses.note('link', '192.0.2.119');
  t.same(
    reports.slice(REPORTS_MAX),
    [{ what: 'link', address: '192.0.2.119', times: 2, others: 20 }],
    'what was not reported of it is',
  );
  t.end();
});
