import t from 'tap';
import { Allotment } from '../../src/fan-out/allotment.ts';

const of = (notificationId: string, clientId: number) => ({ notificationId, clientId });
const names = (served: readonly { readonly notificationId: string }[]): string =>
  served.map(({ notificationId }) => notificationId).join(' ');

t.test('slots go round the tenants, then round their notifications', (t) => {
  const candidates = [of('a1', 1), of('a2', 1), of('b1', 2)];
  t.equal(names(new Allotment().share(candidates, [], 4)), 'a1 b1 a2 b1');
  t.end();
});

t.test('a small notification gets the next free slot, however much the big one holds', (t) => {
  const big = of('big', 1);
  const underWay = Array.from({ length: 7 }, () => big);
  t.equal(names(new Allotment().share([big, of('small', 1)], underWay, 1)), 'small');
  t.equal(names(new Allotment().share([big, of('other', 2)], underWay, 1)), 'other');
  t.end();
});

t.test('with one slot at a time everyone has his turn', (t) => {
  const allotment = new Allotment();
  const candidates = [of('a', 1), of('b', 1), of('c', 1)];
  const turns = Array.from({ length: 6 }, () => names(allotment.share(candidates, [], 1)));
  t.equal(turns.join(' '), 'a b c a b c');
  t.end();
});

t.test('alone, one gets all slots; without candidates nobody does', (t) => {
  t.equal(names(new Allotment().share([of('a', 1)], [], 3)), 'a a a');
  t.strictSame(new Allotment().share([], [], 3), []);
  t.end();
});
