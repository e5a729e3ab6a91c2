/** `present` of a payload: what is taken, what stays data, and what is a fault. */

import t from 'tap';
import { parsePayload } from '../support/parse-payload.ts';

const WHOLE = {
  interruption: 'timeSensitive',
  thread: 'match-1',
  relevance: 0.5,
  channel: 'goals',
  subtitle: 'Second half',
  actions: [{ id: 'open', title: 'Open', url: 'https://example.com/1' }],
  actionCategory: 'MATCH',
  appBadge: 3,
  mutable: true,
};

t.test('the whole form, and texts as real clients write them', (t) => {
  t.match(parsePayload({ title: 'Goal', present: WHOLE }), {
    ok: true,
    payload: { title: 'Goal', present: WHOLE, data: {} },
  });
  t.same(parsePayload({ present: { appBadge: '3', mutable: 'true', thread: 7, subtitle: null } }), {
    ok: true,
    payload: { present: { appBadge: 3, mutable: true, thread: '7' }, data: {} },
  });
  t.end();
});

t.test('what is none of ours was data before, and stays data', (t) => {
  for (const present of [{ ...WHOLE, wrapped: true }, {}, 'a book', ['book'], 7, false, null]) {
    t.same(parsePayload({ title: 'Your present', present }), {
      ok: true,
      payload: { title: 'Your present', data: { present } },
    });
  }
  t.end();
});

t.test('a fault names the field', (t) => {
  for (const [present, path, message] of [
    [{ interruption: 'loud' }, 'interruption', /passive, active, timeSensitive/],
    [{ relevance: 1.5 }, 'relevance', /from 0 to 1/],
    [{ relevance: 'much' }, 'relevance', /from 0 to 1/],
    [{ appBadge: -1 }, 'appBadge', /0 or more/],
    [{ mutable: 'perhaps' }, 'mutable', /true or false/],
    [{ channel: {} }, 'channel', /must be a text/],
    [{ actions: {} }, 'actions', /must be a list/],
    [{ actions: Array(4).fill({ id: 'a', title: 'A' }) }, 'actions', /3 at most/],
    [{ actions: [{ id: '', title: 'A' }] }, 'actions.0.id', /must not be empty/],
    [{ actions: [{ id: 'a' }] }, 'actions.0.title', /must be a text/],
    [{ actions: [{ id: 'a', title: 'A', icon: 'x' }] }, 'actions.0', /an id, a title/],
  ] as const) {
    const read = parsePayload({ title: 'Goal', present });
    t.match(read, { ok: false, faults: [{ path: `payload.present.${path}`, message }] });
  }
  t.end();
});
