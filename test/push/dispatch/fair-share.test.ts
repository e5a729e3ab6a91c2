import t from 'tap';
import { FairShare } from '../../../src/push/dispatch/fair-share.ts';
import { aClaimable } from '../../support/a-notification.ts';

const of = (notificationId: string, clientId: number, appId = clientId, platformId = 3) =>
  aClaimable({ notificationId, clientId, appId, platformId });
const urgent = (...how: Parameters<typeof of>) => ({ ...of(...how), isUrgent: true });
const names = (served: readonly { readonly notificationId: string }[]): string =>
  served.map(({ notificationId }) => notificationId).join(' ');

t.test('slots go round the tenants, then round their notifications', (t) => {
  const candidates = [of('a1', 1), of('a2', 1), of('b1', 2)];
  t.equal(names(new FairShare().share(candidates, [], 6)), 'a1 b1 a2 b1');
  t.end();
});

t.test('a small notification gets the next free slot, however much the big one holds', (t) => {
  const big = of('big', 1);
  const underWay = Array.from({ length: 7 }, () => big);
  t.equal(names(new FairShare().share([big, of('small', 1)], underWay, 5)), 'small');
  t.equal(names(new FairShare().share([big, of('other', 2)], underWay, 1)), 'other');
  t.equal(
    names(new FairShare().share([of('small', 1)], underWay, 1)),
    '',
    'its scope has its share',
  );
  t.end();
});

t.test('with one slot at a time everyone has his turn', (t) => {
  const fairShare = new FairShare();
  const candidates = [of('a', 1), of('b', 1), of('c', 1)];
  const turns = Array.from({ length: 6 }, () => names(fairShare.share(candidates, [], 1)));
  t.equal(turns.join(' '), 'a b c a b c');
  t.end();
});

t.test('alone, one scope gets two thirds of the slots; without candidates nobody does', (t) => {
  t.equal(names(new FairShare().share([of('a', 1)], [], 12)), 'a a a a a a a a');
  t.equal(names(new FairShare().share([of('a', 1)], [], 1)), 'a', 'the only one, too');
  t.strictSame(new FairShare().share([], [], 3), []);
  t.end();
});

t.test('a scope that hangs leaves slots to the others, and so does the next one', (t) => {
  const hung = Array.from({ length: 8 }, () => of('hung', 1));
  t.equal(names(new FairShare().share([of('hung', 1)], hung, 4)), '');
  t.equal(names(new FairShare().share([of('more', 1)], hung, 4)), '', 'another of that scope');
  t.equal(names(new FairShare().share([of('b', 2)], hung, 4)), 'b b');
  const both = [...hung, of('b', 2), of('b', 2)];
  t.equal(names(new FairShare().share([of('b', 2), of('c', 3)], both, 2)), 'c');
  t.end();
});

t.test('who has little work gets no more slots than it fills', (t) => {
  const few = { ...of('few', 1), slotsMax: 2 };
  const many = of('many', 2);
  t.equal(names(new FairShare().share([few, many], [many, many], 6)), 'few few many many');
  t.equal(names(new FairShare().share([few], [], 12)), 'few few');
  t.end();
});

t.test('the platforms of one notification take turns', (t) => {
  const candidates = [of('a', 1, 1, 3), of('a', 1, 1, 15)];
  const served = new FairShare().share(candidates, [], 8);
  t.equal(served.map(({ platformId }) => platformId).join(' '), '3 15 3 15 3 15');
  t.end();
});

t.test('of a client urgent sends get four slots of five, the rest keeps a fifth', (t) => {
  const candidates = [of('n', 1, 1), urgent('u', 1, 2), urgent('v', 1, 3)];
  t.equal(names(new FairShare().share(candidates, [], 30).slice(0, 10)), 'u n v u v u n v u v');
  const holding = [of('n', 1, 1), ...Array.from({ length: 5 }, () => urgent('u', 1, 2))];
  t.equal(names(new FairShare().share(candidates, holding, 30).slice(0, 1)), 'n');
  t.end();
});

t.test('between clients urgency counts nothing', (t) => {
  const candidates = [urgent('u', 1), of('a', 2), of('b', 3)];
  t.equal(names(new FairShare().share(candidates, [], 20).slice(0, 6)), 'u a b u a b');
  t.end();
});

t.test('a reserved slot is for the first urgent send of a scope, whatever is taken', (t) => {
  const full = Array.from({ length: 8 }, () => of('big', 1));
  const share = (candidate: ReturnType<typeof of>, underWay = full, slots = 0) =>
    names(new FairShare().share([candidate], underWay, slots, 2));
  t.equal(share(of('small', 1, 5)), '', 'what is not urgent gets none');
  t.equal(share(urgent('u', 1)), 'u', 'one of them');
  t.equal(share(urgent('u', 1), full, 3), 'u', 'also when only its scope has its share');
  t.equal(share(urgent('v', 1), [...full, urgent('u', 1)], -1), '', 'its scope has one');
  t.equal(share(urgent('v', 2), [...full, urgent('u', 1)], -1), 'v', 'another scope has none');
  t.equal(share(urgent('w', 3), full, -2), '', 'all reserved ones are taken');
  t.end();
});

t.test('a send with a rate holds no more slots than its rate can use', (t) => {
  const held = (ratePerSecond: number) =>
    new FairShare().share([{ ...of('a', 1), ratePerSecond }], [], 48).length;
  t.equal(held(1), 3, 'one sends, the next one is ready');
  t.equal(held(5_000), 12);
  t.equal(held(1_000_000), 32, 'as many as anybody');
  const both = [
    { ...of('a', 1, 1, 3), ratePerSecond: 1 },
    { ...of('a', 1, 1, 15), ratePerSecond: 1 },
  ];
  t.equal(new FairShare().share(both, [], 48).length, 6, 'on each platform');
  t.end();
});
