import t from 'tap';
import type { Payload } from '../../src/domain/notification.ts';
import { parsePayload } from '../support/parse-payload.ts';

const good = (value: unknown): Payload => {
  const result = parsePayload(value);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.payload;
};
const faults = (value: unknown) => {
  const result = parsePayload(value);
  return result.ok ? [] : result.faults;
};

t.test('the whole form, as an object and as a string holding it', (t) => {
  const given = {
    title: 'Goal',
    message: '1:0',
    url: 'https://example.com',
    image: 'https://example.com/1.png',
    badge: 1,
    sound: 'default',
    ttl: 60,
    priority: 'high',
    collapseId: 'match-1',
    silent: false,
    data: { a: { b: [1] } },
    apns: { aps: { 'thread-id': 'x' } },
    fcm: { android: {} },
  };
  const { ttl: _, ...rest } = given;
  t.same(good(given), { ...rest, ttlSeconds: 60 });
  t.same(good(JSON.stringify(given)), { ...rest, ttlSeconds: 60 });
  t.same(good({}), { data: {} });
  t.same(good('\u{feff}{"title":"a"}'), { title: 'a', data: {} }, 'behind a byte order mark');
  t.end();
});

t.test('as real clients write it', (t) => {
  t.same(good({ badge: '3', ttl: ' 1800 ', silent: 'true', title: 7, priority: 'HIGH' }), {
    badge: 3,
    ttlSeconds: 1_800,
    silent: true,
    title: '7',
    priority: 'high',
    data: {},
  });
  t.same(good({ title: null, badge: null, data: null, fcm: null }), { data: {} });
  t.same(good({ body: 'b' }), { message: 'b', data: {} });
  t.same(good({ body: 'b', message: 'm' }), { message: 'm', data: {} });
  t.end();
});

t.test('unknown fields are data, and data itself wins', (t) => {
  t.same(good({ feedId: 1, articleId: 'x', data: { articleId: 'y', z: null } }), {
    data: { feedId: 1, articleId: 'y', z: null },
  });
  const odd = good('{"__proto__":{"a":1},"constructor":1,"data":{"hasOwnProperty":2}}');
  t.equal(JSON.stringify(odd.data), '{"__proto__":{"a":1},"constructor":1,"hasOwnProperty":2}');
  t.end();
});

t.test('an empty object as PHP writes it', (t) => {
  for (const value of [[], '[]']) t.same(good(value), { data: {} });
  for (const field of ['data', 'apns', 'fcm', 'webpush']) {
    t.same(good({ title: 'a', [field]: [] }), good({ title: 'a', [field]: {} }), field);
    t.match(faults({ [field]: [1] }), [{ path: `payload.${field}`, message: 'must be an object' }]);
  }
  t.same(good({ list: [], data: { list: [] } }).data, { list: [] }, 'in data nobody knows');
  t.end();
});

t.test('what is not an object', (t) => {
  for (const value of [null, undefined, 7, true, ['a'], '[1]', '7', 'null', '"text"']) {
    t.match(faults(value), [{ path: 'payload', message: 'must be an object' }]);
  }
  t.match(faults('{"title":'), [{ path: 'payload', message: 'not valid JSON' }]);
  t.match(faults(''), [{ path: 'payload', message: 'not valid JSON' }]);
  t.end();
});

t.test('limits, each with its sentence', (t) => {
  const cases: readonly (readonly [object, string, string])[] = [
    [{ badge: -1 }, 'payload.badge', '0 or more'],
    [{ badge: 1.5 }, 'payload.badge', 'whole number'],
    [{ badge: 'many' }, 'payload.badge', 'must be a number'],
    [{ badge: true }, 'payload.badge', 'must be a number'],
    [{ ttl: -1 }, 'payload.ttl', '0 or more'],
    [{ ttl: 2_419_201 }, 'payload.ttl', '2419200 or less; it is in seconds'],
    [{ apnsPushType: 'liveactivity' }, 'payload.apnsPushType', 'must be one of alert, background'],
    [{ ttl: '' }, 'payload.ttl', 'must be a number'],
    [{ title: ['a'] }, 'payload.title', 'must be a text'],
    [{ message: {} }, 'payload.message', 'must be a text'],
    [{ priority: 'urgent' }, 'payload.priority', '"high" or "normal"'],
    [{ silent: 'yes' }, 'payload.silent', 'true or false'],
    [{ data: [1] }, 'payload.data', 'must be an object'],
    [{ data: 'x' }, 'payload.data', 'must be an object'],
    [{ apns: 'x' }, 'payload.apns', 'must be an object'],
    [{ fcm: [1] }, 'payload.fcm', 'must be an object'],
    [{ collapseId: 'x'.repeat(65) }, 'payload.collapseId', '64 bytes'],
    [{ collapseId: 'ü' }, 'payload.collapseId', 'ASCII'],
    [{ collapseId: 'a\nb' }, 'payload.collapseId', 'ASCII'],
    [{ collapseId: '' }, 'payload.collapseId', 'ASCII'],
  ];
  for (const [value, path, message] of cases) {
    t.match(faults(value)[0], { path, message }, JSON.stringify(value));
  }
  t.equal(good({ ttl: 2_419_200 }).ttlSeconds, 2_419_200);
  t.equal(good({ collapseId: 'x'.repeat(64) }).collapseId?.length, 64);
  t.equal(faults({ badge: -1, ttl: 'x', data: 1 }).length, 3, 'all of them at once');
  t.end();
});

t.test('what could not be stored or walked', (t) => {
  t.match(faults({ title: 'a\0b' }), [{ path: 'payload', message: 'NUL' }]);
  t.match(faults('{"data":{"a\\u0000":1}}'), [{ path: 'payload', message: 'NUL' }]);
  t.match(faults('{"title":"\\ud800"}'), [{ path: 'payload', message: 'surrogate' }]);
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  t.match(faults(`{"data":{"a":${deep}}}`), [{ path: 'payload', message: 'nested deeper' }]);
  t.end();
});
