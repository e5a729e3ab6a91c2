/** Equal renderings are shown once, and an answer has an end. */

import t from 'tap';
import { scopeKeyOf } from '../../../src/domain/device.ts';
import type { Payload } from '../../../src/domain/notification.ts';
import type { Push } from '../../../src/push/accept/push.ts';
import type { Counted } from '../../../src/push/routes/renderings.ts';
import { previewOf, RENDERINGS_LENGTH_MAX } from '../../../src/push/routes/renderings.ts';

const NOW = { sendAtMs: null, expiresAtMs: null } as unknown as Push;
const PAYLOAD: Payload = { title: 'goal!', data: {} };

/**
 * Renders for so many apps on iOS and Android, each with a device; `made`: the results of their
 * templates.
 */
function counted(apps: number, made: (appId: number) => Payload | null): Counted {
  const audience = Array.from({ length: apps }, (_, index) =>
    ([3, 15] as const).map((platformId) => ({ appId: index + 1, platformId, count: 1 })),
  ).flat();
  const payloads = audience.flatMap((scope) => {
    const one = made(scope.appId);
    return one === null ? [] : [[scopeKeyOf(scope), one] as const];
  });
  const templated = { given: {}, payloads: Object.fromEntries(payloads) };
  return {
    kind: 'counted',
    audience,
    isApproximate: false,
    unknownTags: [],
    payload: PAYLOAD,
    templated,
  };
}

const shownIn = ({ preview, notShown = [] }: ReturnType<typeof previewOf>) => [
  ...preview.flatMap(({ appId, platformId, alsoFor = [] }) => [
    `${appId}/${platformId}`,
    ...alsoFor.map((other) => `${other.appId}/${other.platformId}`),
  ]),
  ...notShown.map(({ appId, platformId }) => `${appId}/${platformId}`),
];

t.test('two hundred apps that get the same are one row for each platform', (t) => {
  const languages = Array.from({ length: 32 }, (_, n) => ({
    tagSourceId: `tag-${n}`,
    payload: { ...PAYLOAD, title: `goal ${n}` },
  }));
  const { audience, ...rest } = counted(200, () => null);
  const answer = previewOf(NOW, { ...rest, audience, payload: { ...PAYLOAD, languages } });
  t.match(answer.preview, [
    { appId: 1, platformId: 3, languages: Array(32).fill({}) },
    { appId: 1, platformId: 15 },
  ]);
  t.equal(answer.preview.length, 2);
  t.equal(shownIn(answer).length, audience.length);
  t.notOk(Object.hasOwn(answer, 'notShown'));
  t.end();
});

t.test('what templates make alike is one row too, beside what they do not make', (t) => {
  const made = (appId: number) => (appId <= 2 ? null : { ...PAYLOAD, title: `${appId % 2}` });
  const answer = previewOf(NOW, counted(6, made));
  t.match(
    answer.preview.map(({ appId, templated, alsoFor }) => [appId, templated, alsoFor?.length]),
    [
      [1, undefined, 1],
      [1, undefined, 1],
      [3, true, 1],
      [3, true, 1],
      [4, true, 1],
      [4, true, 1],
    ],
  );
  t.end();
});

t.test('an answer is bounded, and says for whom it shows nothing', (t) => {
  const made = (appId: number) => ({ ...PAYLOAD, message: `${appId}`.padEnd(3_500, 'x') });
  const all = counted(300, made);
  const answer = previewOf(NOW, all);
  t.ok(JSON.stringify(answer.preview).length < RENDERINGS_LENGTH_MAX * 1.1);
  t.ok((answer.notShown?.length ?? 0) > 0);
  const keys = all.audience.map(({ appId, platformId }) => `${appId}/${platformId}`);
  t.same(shownIn(answer).toSorted(), keys.toSorted());
  t.end();
});
