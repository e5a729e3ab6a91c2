/** Rule one, on a newcomer's machine: a send outlives the process that was sending it. */

import t from 'tap';
import { killedAlone, killedAtMostOnce } from './aftermath.ts';
import { setScene } from './scene.ts';

t.setTimeout(580_000);

t.test('kill -9 in the middle of a send: start again, none missed, few sent twice', async (t) => {
  await killedAlone(t, await setScene(t));
});

t.test('at most once: kill -9 in the middle, and nobody has it twice', async (t) => {
  await killedAtMostOnce(t, await setScene(t));
});
