import type { Test } from 'tap';
import t from 'tap';
import { v7 } from 'uuid';
import { firstUuidAt, UUID_MAX, uuidV7 } from '../../src/domain/uuid-v7.ts';

t.test('the first of a millisecond is above all before it and below all of it', (t) => {
  const timeMs = 1_700_000_000_123;
  const [before, within] = [v7({ msecs: timeMs - 1 }), v7({ msecs: timeMs })];
  const first = firstUuidAt(timeMs);
  t.ok(before < first && first < within, `${before} < ${first} < ${within}`);
  t.match(first, /^[0-9a-f]{8}-[0-9a-f]{4}-0000-0000-0{12}$/);
  t.ok(within < UUID_MAX);
  t.end();
});

t.test('times that no id can have become the first and the last that one can', (t) => {
  t.equal(firstUuidAt(-1), '00000000-0000-0000-0000-000000000000');
  t.equal(firstUuidAt(8_640_000_000_000_000), 'ffffffff-ffff-0000-0000-000000000000');
  t.equal(firstUuidAt(1.9), firstUuidAt(1));
  t.end();
});

t.test('ids rise within a millisecond, and while the clock goes back a little', (t) => {
  const nowMs = Date.now();
  setClock(t, nowMs);
  const ids = Array.from({ length: 1_000 }, uuidV7);
  setClock(t, nowMs - 1_000);
  ids.push(uuidV7());
  t.strictSame(ids.toSorted(), ids);
  t.equal(new Set(ids).size, ids.length);
  t.end();
});

t.test('ids follow a clock that was ahead and is set right', (t) => {
  const nowMs = Date.now();
  setClock(t, nowMs + 31 * 86_400_000);
  const ahead = uuidV7();
  setClock(t, nowMs);
  const id = uuidV7();
  t.ok(id < ahead);
  t.ok(firstUuidAt(nowMs) <= id && id < firstUuidAt(nowMs + 1), id);
  t.end();
});

function setClock(t: Test, nowMs: number): void {
  t.intercept(Date, 'now', { value: () => nowMs });
}
