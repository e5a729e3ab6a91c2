import t from 'tap';
import { BudgetShare, SendBudget } from '../../../src/push/worker/send-budget.ts';

/**
 * A budget of nine, of which one credential may take eight, and how often it has announced room.
 */
function makeBudget() {
  const budget = new SendBudget(9);
  let fired = 0;
  budget.freed.on(() => {
    fired += 1;
  });
  const takeAll = (share: BudgetShare): number => {
    let taken = 0;
    for (; !share.isUsedUp; taken += 1) share.take();
    return taken;
  };
  return { budget, takeAll, fired: () => fired };
}

t.test('a share that was told to wait hears once of what another has recorded', (t) => {
  const { budget, takeAll, fired } = makeBudget();
  const use = { used: 0 };
  const [a, b] = [new BudgetShare(budget, use), new BudgetShare(budget, use)];
  for (let n = 0; n < 4; n += 1) a.take();
  t.equal(takeAll(b), 4, 'eight ninths for one credential');
  a.recorded(1);
  t.equal(fired(), 1);
  a.recorded(1);
  t.equal(fired(), 1, 'nobody has waited again');
  t.notOk(b.isUsedUp);
  t.end();
});

t.test('while nobody was told to wait, nobody is told of room', (t) => {
  const { budget, fired } = makeBudget();
  const [a, b] = [new BudgetShare(budget, { used: 0 }), new BudgetShare(budget, { used: 0 })];
  a.take();
  t.notOk(b.isUsedUp);
  b.take();
  a.recorded(1);
  b.close();
  t.equal(fired(), 0);
  t.end();
});

t.test('a share that still finds no room hears of the next', (t) => {
  const { budget, takeAll, fired } = makeBudget();
  const [a, b] = [new BudgetShare(budget, { used: 0 }), new BudgetShare(budget, { used: 0 })];
  t.equal(takeAll(a), 8);
  budget.take();
  t.ok(b.isUsedUp, 'nothing is free');
  budget.give(0);
  t.equal(fired(), 0, 'nothing was given');
  budget.give(1);
  t.equal(fired(), 1);
  t.ok(a.isUsedUp, 'a has eight of nine');
  a.recorded(1);
  t.equal(fired(), 2);
  t.end();
});
