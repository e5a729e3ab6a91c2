import t from 'tap';
import { within } from '../../src/std/within.ts';

t.test('what comes in time, or what stands for it', async (t) => {
  t.equal(await within(60_000, Promise.resolve('there'), 'late'), 'there');
  t.equal(await within(5, new Promise<string>(() => undefined), 'late'), 'late');
});

t.test('what fails in time fails', (t) =>
  t.rejects(within(60_000, Promise.reject(new Error('broken')), 'late'), /broken/),
);
