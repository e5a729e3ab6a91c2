import t from 'tap';
import type { Parameter } from '../../../../packages/http2/src/frame/settings.ts';
import {
  loadSettings,
  SETTINGS_ACK,
  settingsFrame,
} from '../../../../packages/http2/src/frame/settings.ts';
import { badVectors, codeOf, frameOf, goodVectors } from './vectors.ts';

const load = (wire: Buffer): readonly Parameter[] | null => {
  const { flags, streamId, bytes, start, end } = frameOf(wire);
  return loadSettings(flags, streamId, bytes, start, end);
};

for (const { name, wire, flags, streamId, payload } of goodVectors('settings')) {
  t.test(name, (t) => {
    t.match(frameOf(wire), { type: 4, flags, streamId });
    const parameters = load(wire);
    t.same(parameters, payload['settings']);
    t.same(settingsFrame(parameters ?? []), wire);
    t.end();
  });
}

for (const { name, wire, codes } of badVectors('settings')) {
  t.test(name, (t) => {
    const code = codeOf(() => load(wire));
    t.ok(codes.includes(code ?? -1), `${code}`);
    t.end();
  });
}

t.test('an acknowledgement, and an empty frame', (t) => {
  t.equal(load(SETTINGS_ACK), null);
  t.same(load(settingsFrame([])), []);
  t.end();
});

t.test('the order is kept, with what is unknown and what comes twice', (t) => {
  const parameters: Parameter[] = [
    [3, 5],
    [0xffff, 2 ** 32 - 1],
    [3, 0],
    [8, 1],
  ];
  t.same(load(settingsFrame(parameters)), parameters);
  t.end();
});

t.test('the range of each value (6.5.2)', (t) => {
  const code = (identifier: number, value: number) =>
    codeOf(() => load(settingsFrame([[identifier, value]])));
  for (const identifier of [1, 3, 6]) t.equal(code(identifier, 2 ** 32 - 1), null);
  t.same([code(2, 0), code(2, 1), code(2, 2)], [null, null, 1], 'ENABLE_PUSH');
  t.same([code(4, 0), code(4, 2 ** 31 - 1), code(4, 2 ** 31)], [null, null, 3], 'a window');
  t.same(
    [code(5, 16_383), code(5, 16_384), code(5, 2 ** 24 - 1), code(5, 2 ** 24)],
    [1, null, null, 1],
    'MAX_FRAME_SIZE',
  );
  t.end();
});
