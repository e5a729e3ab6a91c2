/** Who has to go when there is no room. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import type { Seat } from '../../../packages/http1/src/connection-table.ts';
import { ConnectionTable } from '../../../packages/http1/src/connection-table.ts';
import { until } from '../../support/poll.ts';

t.test('of the network with most connections, the one that is silent for longest', (t) => {
  const table = new ConnectionTable<string>(4);
  const seats = new Map<string, Seat<string>>();
  const enter = (guest: string, network: string): void => {
    seats.set(guest, table.enter(guest, network));
  };
  const seat = (guest: string): Seat<string> => seats.get(guest) as Seat<string>;
  enter('a1', 'a');
  enter('b1', 'b');
  enter('a2', 'a');
  enter('a3', 'a');
  t.notOk(table.isOverfull);
  enter('b2', 'b');
  t.ok(table.isOverfull);
  t.equal(table.whoGoes()?.guest, 'a1');

  table.works(seat('a1'));
  t.equal(table.whoGoes()?.guest, 'a2', 'an answer is being made for a1');
  table.waits(seat('a1'));
  table.waits(seat('a1'));
  t.equal(table.whoGoes()?.guest, 'a2', 'a1 has spoken last');
  table.works(seat('a2'));
  table.works(seat('a2'));
  t.equal(table.whoGoes()?.guest, 'a3');
  table.leave(seat('a3'));
  t.notOk(table.isOverfull);
  t.ok(['a1', 'b1'].includes(table.whoGoes()?.guest ?? ''), 'two of each now');

  table.leave(seat('a1'));
  t.equal(table.whoGoes()?.guest, 'b1');
  for (const guest of ['b1', 'b2']) table.works(seat(guest));
  t.equal(table.whoGoes(), null, 'everybody is worked for');
  for (const guest of ['a2', 'b1', 'b2']) table.leave(seat(guest));
  t.equal(table.size, 0);
  t.equal(table.whoGoes(), null);
  t.end();
});

t.test('a long random history against a plain model', (t) => {
  const table = new ConnectionTable<number>(1_000);
  interface Guest {
    readonly id: number;
    readonly network: string;
    readonly seat: Seat<number>;
  }
  // A small generator of its own, so that a failure comes again.
  let state = 1;
  const random = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  let guests: Guest[] = [];
  /** Those that wait, the longest first. */
  let waiting: Guest[] = [];
  for (let step = 0; step < 4_000; step += 1) {
    const guest = guests[random(Math.max(1, guests.length))];
    const what = random(guests.length > 60 ? 8 : 10);
    if (guest === undefined || what >= 7) {
      const network = `n${random(6) * random(6)}`;
      const made = { id: step, network, seat: table.enter(step, network) };
      guests.push(made);
      waiting.push(made);
    } else if (what < 2) {
      table.leave(guest.seat);
      guests = guests.filter((other) => other !== guest);
      waiting = waiting.filter((other) => other !== guest);
    } else if (what < 5) {
      table.works(guest.seat);
      waiting = waiting.filter((other) => other !== guest);
    } else if (!waiting.includes(guest)) {
      table.waits(guest.seat);
      waiting.push(guest);
    }
    const count = (network: string): number =>
      guests.filter((other) => other.network === network).length;
    const most = Math.max(0, ...waiting.map(({ network }) => count(network)));
    const candidates = new Map<string, number>();
    for (const { network, id } of waiting) {
      if (count(network) === most && !candidates.has(network)) candidates.set(network, id);
    }
    const goes = table.whoGoes()?.guest ?? null;
    if (table.size !== guests.length) t.fail(`size at step ${step}`);
    if (goes === null ? waiting.length > 0 : ![...candidates.values()].includes(goes)) {
      t.fail(`who goes at step ${step}`);
      break;
    }
  }
  t.ok(guests.length > 0);
  t.end();
});

t.test('a network whose last connection has left is forgotten', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const table = new ConnectionTable<object>(10);
  const comeAndGo = (name: string): WeakRef<object> => {
    const seat = table.enter({}, name);
    table.leave(seat);
    return new WeakRef(seat.network);
  };
  const network = comeAndGo('192.0.2.1');
  comeAndGo('192.0.2.2');
  await until(
    'it is collected',
    () => {
      collect();
      return network.deref() === undefined ? true : null;
    },
    5_000,
  );
});
