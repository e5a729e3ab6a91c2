import t from 'tap';
import { TransactionBudget } from '../../src/database/transaction-budget.ts';

t.test('as many transactions as there are, and no more', (t) => {
  const budget = new TransactionBudget(2);
  t.same([budget.isSpent, budget.take(), budget.take()], [false, true, true]);
  t.same([budget.isSpent, budget.take()], [true, false]);
  t.end();
});

t.test('pieces are taken until one is not full, or until the budget is spent', async (t) => {
  const pieces = [10, 10, 3, 10];
  const budget = new TransactionBudget(4);
  t.equal(await budget.empty(10, async () => pieces.shift() ?? 0), true);
  t.same(pieces, [10]);
  t.equal(await budget.empty(10, async () => pieces.shift() ?? 0), false);
  t.equal(budget.isSpent, true);
});
