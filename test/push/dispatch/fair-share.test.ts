import t from 'tap';
import { FairShare } from '../../../src/push/dispatch/fair-share.ts';

const of = (notificationId: string, clientId: number, appId = clientId, platformId = 3) => ({
  notificationId,
  clientId,
  appId,
  platformId,
});
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

t.test('the platforms of one notification take turns', (t) => {
  const candidates = [of('a', 1, 1, 3), of('a', 1, 1, 15)];
  const served = new FairShare().share(candidates, [], 8);
  t.equal(served.map(({ platformId }) => platformId).join(' '), '3 15 3 15 3 15');
  t.end();
});
