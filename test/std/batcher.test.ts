import t from 'tap';
import { Batcher } from '../../src/std/batcher.ts';

/** A batcher whose batches end when the test says so. */
function held(limits: { readonly itemsMax?: number; readonly weightMax?: number } = {}) {
  const batches: { readonly items: readonly number[]; end(results?: readonly string[]): void }[] =
    [];
  const batcher = new Batcher<number, string>({
    itemsMax: limits.itemsMax ?? 1_000,
    weightMax: limits.weightMax ?? 1_000_000,
    weightOf: (item) => item,
    run: (items) =>
      new Promise((resolve) => {
        batches.push({
          items,
          end: (results = items.map((item) => `r${item}`)) => resolve(results),
        });
      }),
  });
  return { batcher, batches };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets everything that can go on go on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
}

t.test('starts at once, gathers while a batch is in flight, answers each its own', async (t) => {
  const { batcher, batches } = held();
  const first = batcher.submit(1);
  await settle();
  t.same(
    batches.map(({ items }) => items),
    [[1]],
  );
  const others = [batcher.submit(2), batcher.submit(3), batcher.submit(4)];
  await settle();
  t.equal(batches.length, 1, 'nothing else is in flight');
  batches[0]?.end();
  t.equal(await first, 'r1');
  await settle();
  t.same(batches[1]?.items, [2, 3, 4]);
  batches[1]?.end();
  t.same(await Promise.all(others), ['r2', 'r3', 'r4']);
});

t.test(
  'an item may be answered after its batch, which the next one does not wait for',
  async (t) => {
    let answerLate = (_result: string): void => undefined;
    const batcher = new Batcher<number, string>({
      itemsMax: 10,
      weightMax: 10,
      weightOf: () => 1,
      run: async (items) =>
        items.map((item) =>
          item === 1
            ? new Promise<string>((resolve) => {
                answerLate = resolve;
              })
            : 'soon',
        ),
    });
    const [first, second] = [batcher.submit(1), batcher.submit(2)];
    t.equal(await second, 'soon');
    await batcher.drain();
    t.equal(await batcher.submit(3), 'soon');
    answerLate('late');
    t.equal(await first, 'late');
  },
);

t.test('what comes in one turn is one batch', async (t) => {
  const { batcher, batches } = held();
  void batcher.submit(1);
  await Promise.resolve();
  void batcher.submit(2);
  await settle();
  t.same(
    batches.map(({ items }) => items),
    [[1, 2]],
  );
});

t.test('waits for as many as the batch before had, while each turn brings more', async (t) => {
  const { batcher, batches } = held();
  for (const item of [1, 2, 3, 4]) void batcher.submit(item);
  await settle();
  batches[0]?.end();
  for (const item of [5, 6, 7, 8]) {
    void batcher.submit(item);
    await nextTurn();
  }
  await settle();
  t.same(batches[1]?.items, [5, 6, 7, 8], 'the four that were answered, and came one by one');
  batches[1]?.end();
  void batcher.submit(9);
  await settle();
  t.same(batches[2]?.items, [9], 'nobody else comes');
});

t.test('does not wait without end for those who come one by one', async (t) => {
  const { batcher, batches } = held();
  for (let item = 0; item < 100; item += 1) void batcher.submit(item);
  await settle();
  batches[0]?.end();
  for (let turn = 0; turn < 20; turn += 1) {
    void batcher.submit(turn);
    await nextTurn();
  }
  t.equal(batches.length, 2);
});

t.test('bounds a batch by items and by weight, but takes one item of any weight', async (t) => {
  const { batcher, batches } = held({ itemsMax: 3, weightMax: 10 });
  const all = [1, 1, 1, 1, 99, 4, 6, 1].map((item) => batcher.submit(item));
  const seen: (readonly number[])[] = [];
  for (let index = 0; index < 5; index += 1) {
    await settle();
    const batch = batches[index];
    seen.push(batch?.items ?? []);
    batch?.end();
  }
  t.same(seen, [[1, 1, 1], [1], [99], [4, 6], [1]]);
  await Promise.all(all);
});

t.test('what comes first is taken before all that waits, in its own order', async (t) => {
  const { batcher, batches } = held({ itemsMax: 3 });
  const [early] = batcher.submitFirst([1]);
  await settle();
  t.same(batches[0]?.items, [1], 'it starts a batch, too');
  const waiting = [2, 3].map((item) => batcher.submit(item));
  const first = batcher.submitFirst([4, 5]);
  batches[0]?.end();
  await settle();
  t.same(batches[1]?.items, [4, 5, 2]);
  batches[1]?.end();
  await settle();
  t.same(batches[2]?.items, [3]);
  t.equal(batcher.isIdle, false);
  batches[2]?.end();
  t.same(await Promise.all([early, ...first, ...waiting]), ['r1', 'r4', 'r5', 'r2', 'r3']);
  t.equal(batcher.isIdle, true);
});

t.test('a batch that throws fails its own items only', async (t) => {
  let fail = true;
  const batcher = new Batcher<number, number>({
    itemsMax: 10,
    weightMax: 10,
    weightOf: () => 1,
    run: (items) => {
      if (fail) throw new Error('no');
      return Promise.resolve(items);
    },
  });
  await t.rejects(batcher.submit(1), { message: 'no' });
  fail = false;
  t.equal(await batcher.submit(2), 2);
});

t.test('drain resolves when everything is answered', async (t) => {
  const { batcher, batches } = held();
  await batcher.drain();
  let drained = false;
  const first = batcher.submit(1);
  await settle();
  const second = batcher.submit(2);
  const drain = batcher.drain().then(() => {
    drained = true;
  });
  batches[0]?.end();
  await first;
  await settle();
  t.equal(drained, false);
  batches[1]?.end();
  await Promise.all([second, drain]);
  t.equal(drained, true);
});

t.test('an item is weighed once, however long it waits', async (t) => {
  const weighed: number[] = [];
  const batcher = new Batcher<number, number>({
    itemsMax: 2,
    weightMax: 10,
    weightOf: (item) => {
      weighed.push(item);
      return 1;
    },
    run: (items) => Promise.resolve(items),
  });
  const items = [1, 2, 3, 4, 5, 6, 7];
  t.same(await Promise.all(items.map((item) => batcher.submit(item))), items);
  t.same(weighed, items);
});
