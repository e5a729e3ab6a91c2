import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { ReconnectPause } from '../../../src/transport/pool/reconnect-pause.ts';

const OPTIONS = { reconnectPauseMs: 10_000, reconnectPauseMsMax: 60_000 };

t.test('pauses double up to their bound, and up to half is added by chance', (t) => {
  const pause = new ReconnectPause(OPTIONS);
  t.notOk(pause.isOn);
  t.notOk(pause.hasBeen);
  for (const wholeMs of [10_000, 20_000, 40_000, 60_000, 60_000]) {
    const pauseMs = pause.begin('no answer');
    t.ok(pauseMs >= wholeMs && pauseMs <= wholeMs * 1.5, `${pauseMs} of ${wholeMs}`);
    t.ok(pause.isOn);
    t.ok(pause.leftMs > 0 && pause.leftMs <= wholeMs * 1.5);
  }
  t.equal(pause.reason, 'no answer');
  t.end();
});

t.test('the second connection without an answer is one too many', (t) => {
  const pause = new ReconnectPause(OPTIONS);
  t.notOk(pause.countFruitless());
  t.ok(pause.countFruitless());
  pause.forget();
  t.notOk(pause.countFruitless());
  t.end();
});

t.test('an answer makes the next pause a first one', async (t) => {
  const pause = new ReconnectPause({ reconnectPauseMs: 1, reconnectPauseMsMax: 1_000_000 });
  for (let pauses = 0; pauses < 10; pauses += 1) pause.begin('lost');
  t.ok(pause.hasBeen);
  pause.forget();
  t.ok(pause.hasBeen, 'it is still on');
  t.ok(pause.begin('lost') <= 2);
  pause.forget();
  while (pause.isOn) await nextTurn();
  t.notOk(pause.hasBeen);
});
