import t from 'tap';
import { changeParameters } from '../../../src/devices/routes/parameter-schemas.ts';
import { PARAMETER_NAMES, readParameters } from '../../../src/devices/routes/parameters.ts';

const read = (body: unknown) => readParameters(Buffer.from(JSON.stringify(body)));
const faults = (body: unknown) => [...(read(body)?.faults ?? ['none read'])];

t.test('ids are JSON numbers or decimal strings', (t) => {
  t.match(read({ appId: 218, platformId: 7 }), { appId: 218, platformId: 7 });
  t.match(read({ appId: '218', platformId: '7' }), { appId: 218, platformId: 7 });
  for (const bad of [
    null,
    true,
    [],
    {},
    '',
    'x',
    '1.5',
    1.5,
    -1,
    0,
    '-1',
    '0x10',
    1e12,
    '99999999999',
  ]) {
    t.equal(read({ appId: bad })?.appId, null, JSON.stringify(bad));
  }
  t.equal(read({})?.appId, null);
  t.end();
});

t.test('a deviceId is a string that can be stored', (t) => {
  t.equal(read({ deviceId: 'a"\\b' })?.deviceId, 'a"\\b');
  t.equal(read({ deviceId: 'x'.repeat(4_096) })?.deviceId?.length, 4_096);
  for (const bad of [null, 1, '', 'x'.repeat(4_097), 'a\0b', ['x'], { id: 'x' }]) {
    t.equal(read({ deviceId: bad })?.deviceId, null, JSON.stringify(bad).slice(0, 20));
  }
  t.equal(readParameters(Buffer.from('{"deviceId":"\\ud800"}'))?.deviceId, null, 'lone surrogate');
  t.end();
});

t.test('tagId: one value or an array, of numbers, decimal strings and tag objects', (t) => {
  t.same(read({ tagId: 5 })?.tagNames.ids, [5]);
  t.same(read({ tagId: '5' })?.tagNames.ids, [5]);
  t.same(read({ tagId: { id: 5, name: 'Tag' } })?.tagNames.ids, [5]);
  t.same(read({ tagId: [1, '2', { id: 3 }, { id: '4' }] })?.tagNames.ids, [1, 2, 3, 4]);
  t.same(read({ tagId: [1, true, null, [2], {}, { id: null }, 'x'] })?.tagNames.ids, [1]);
  t.same(faults({ tagId: [1, 'x'] }), ['tagId']);
  t.same(faults({ tagId: [1, '2'] }), []);
  t.end();
});

t.test('tagSourceId: one string or an array', (t) => {
  t.same(read({ tagSourceId: 'news' })?.tagNames.sourceIds, ['news']);
  t.same(read({ tagSourceId: ['a', 'b', 1, ''] })?.tagNames.sourceIds, ['a', 'b']);
  t.same(faults({ tagSourceId: ['a', 1] }), ['tagSourceId']);
  t.match(read({ tagId: 1, tagSourceId: 'a' })?.tagNames, { ids: [1], sourceIds: ['a'] });
  t.end();
});

t.test('none given means that the keys are absent', (t) => {
  t.equal(read({})?.tagsGiven, false);
  for (const given of [null, [], '', [''], [null], 0]) {
    t.match(
      read({ tagId: given }),
      { tagsGiven: true, tagNames: { ids: [] } },
      JSON.stringify(given),
    );
    t.match(read({ tagSourceId: given }), { tagsGiven: true, tagNames: { sourceIds: [] } });
  }
  t.end();
});

t.test('a thousand tags, not one more', (t) => {
  const ids = Array.from({ length: 1_000 }, (_, index) => index + 1);
  t.match(read({ tagId: ids }), { tooManyTags: false, tagNames: { ids } });
  t.match(read({ tagId: ids, tagSourceId: 'one more' }), { tooManyTags: true });
  t.match(read({ tagId: [...ids, 1] }), { tooManyTags: true, tagNames: { ids: [] } });
  t.end();
});

t.test('what is no JSON object of at most 64 KiB is nothing', (t) => {
  for (const body of ['', 'x', '[]', 'null', '1', '"x"', '{"appId":1', 'appId=1&platformId=3']) {
    t.equal(readParameters(Buffer.from(body)), null, body);
  }
  t.equal(readParameters(Buffer.from('[['.repeat(30_000))), null, 'deep nesting');
  t.equal(
    readParameters(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
    null,
    'no UTF-8',
  );
  const padded = (bytes: number) => Buffer.from('{"appId":1}'.padEnd(bytes, ' '));
  t.match(readParameters(padded(65_536)), { appId: 1 });
  t.equal(readParameters(padded(65_537)), null);
  t.match(readParameters(Buffer.from('\u{feff}{"appId":1}')), { appId: 1 }, 'behind a mark');
  t.end();
});

t.test('what objects inherit is not given', (t) => {
  t.match(readParameters(Buffer.from('{"__proto__":{"appId":1,"tagId":[1]}}')), {
    appId: null,
    tagsGiven: false,
  });
  t.end();
});

t.test('unknown fields are named, so that they fit into a header', (t) => {
  t.same(read({ appId: 1, locale: 'de', os: '18' })?.unknownNames, ['locale', 'os']);
  t.same(read({ appId: 1, tagId: 1, tagSourceId: 'a', deviceId: 'x' })?.unknownNames, []);
  t.same(read({ 'a\r\nSet-Cookie: b': 1, 'ü,': 1, '\ud800': 1, '': 1 })?.unknownNames, [
    'a??Set-Cookie:?b',
    '??',
    '?',
    '?',
  ]);
  t.same(read({ ['x'.repeat(100)]: 1 })?.unknownNames, ['x'.repeat(64)]);
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, 1]));
  t.equal(read(many)?.unknownNames.length, 10);
  t.equal(read({ ...many, tag_ids: 1 })?.meansTags, true, 'looked for among all of them');
  t.same(readParameters(Buffer.from('{"__proto__":1}'))?.unknownNames, ['__proto__']);
  t.end();
});

t.test('appVersion is a short string, and never a reason to refuse', (t) => {
  t.equal(read({ appVersion: 'V1.0.11.3b' })?.attributes.appVersion, 'V1.0.11.3b');
  for (const bad of [1, 'x'.repeat(256), 'a\0', {}]) {
    t.equal(read({ appVersion: bad })?.attributes.appVersion, null);
    t.same(faults({ appVersion: bad }), ['appVersion']);
  }
  t.same(faults({ appVersion: null }), []);
  t.end();
});

t.test('null is taken where the document says so, and nowhere else', (t) => {
  const body = { appId: 1, platformId: 3, deviceId: 'x', tagId: 1, tagSourceId: 'a' };
  for (const name of PARAMETER_NAMES.filter((name) => name !== 'body')) {
    const given = { ...body, [name]: null };
    const parameters = read(given);
    const isTaken =
      parameters?.faults.length === 0 &&
      [parameters.appId, parameters.platformId, parameters.deviceId].every((one) => one !== null);
    t.equal(isTaken, changeParameters.safeParse(given).success, name);
  }
  t.equal(read({ ...body, appVersion: null })?.attributes.appVersion, null);
  t.end();
});
