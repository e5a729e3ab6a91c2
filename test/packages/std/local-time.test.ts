import t from 'tap';
import { localMsOf, momentOf } from '../../../packages/std/src/local-time.ts';

const at = (local: string, zone: string): string =>
  new Date(momentOf(localMsOf(local) ?? 0, zone)).toISOString().replace(':00.000Z', 'Z');

t.test('a local time is read whole, or not at all', (t) => {
  t.equal(localMsOf('2026-12-01T08:00'), Date.UTC(2026, 11, 1, 8));
  t.equal(localMsOf('2028-02-29T23:59'), Date.UTC(2028, 1, 29, 23, 59));
  const wrong = ['2026-02-29T08:00', '2026-12-01T24:00', '2026-12-01T08:00Z', '2026-12-01 08:00'];
  for (const text of [...wrong, '2026-12-01', '2026-13-01T08:00', '', '2026-12-01T08:60']) {
    t.equal(localMsOf(text), null, text);
  }
  t.end();
});

t.test('clocks far apart show the same time at different moments', (t) => {
  t.equal(at('2026-12-01T08:00', 'Pacific/Kiritimati'), '2026-11-30T18:00Z');
  t.equal(at('2026-12-01T08:00', 'Pacific/Chatham'), '2026-11-30T18:15Z');
  t.equal(at('2026-12-01T08:00', 'Asia/Kathmandu'), '2026-12-01T02:15Z');
  t.equal(at('2026-12-01T08:00', 'Europe/Zurich'), '2026-12-01T07:00Z');
  t.equal(at('2026-07-01T08:00', 'Europe/Zurich'), '2026-07-01T06:00Z');
  t.equal(at('2026-12-01T08:00', 'UTC'), '2026-12-01T08:00Z');
  t.equal(at('2026-12-01T08:00', 'Etc/GMT+12'), '2026-12-01T20:00Z');
  t.end();
});

t.test('a time that clocks skip is the moment of the skip', (t) => {
  // 02:00 becomes 03:00.
  t.equal(at('2026-03-29T01:59', 'Europe/Zurich'), '2026-03-29T00:59Z');
  for (const time of ['02:00', '02:01', '02:30', '02:59', '03:00']) {
    t.equal(at(`2026-03-29T${time}`, 'Europe/Zurich'), '2026-03-29T01:00Z', time);
  }
  t.equal(at('2026-03-29T03:01', 'Europe/Zurich'), '2026-03-29T01:01Z');
  // Half an hour: 02:00 becomes 02:30.
  t.equal(at('2026-10-04T02:15', 'Australia/Lord_Howe'), '2026-10-03T15:30Z');
  t.equal(at('2026-10-04T02:31', 'Australia/Lord_Howe'), '2026-10-03T15:31Z');
  t.equal(at('2026-09-27T02:50', 'Pacific/Chatham'), '2026-09-26T14:00Z');
  // A whole day.
  t.equal(at('2011-12-30T08:00', 'Pacific/Apia'), '2011-12-30T10:00Z');
  t.end();
});

t.test('of a time that clocks show twice it is the first', (t) => {
  t.equal(at('2026-10-25T01:59', 'Europe/Zurich'), '2026-10-24T23:59Z');
  t.equal(at('2026-10-25T02:30', 'Europe/Zurich'), '2026-10-25T00:30Z');
  t.equal(at('2026-10-25T03:00', 'Europe/Zurich'), '2026-10-25T02:00Z');
  t.equal(at('2026-04-05T01:45', 'Australia/Lord_Howe'), '2026-04-04T14:45Z');
  t.equal(at('2026-11-01T01:30', 'America/New_York'), '2026-11-01T05:30Z');
  t.end();
});

t.test('each moment of a year shows its time, and the minute before does not', (t) => {
  for (const zone of ['Europe/Dublin', 'Africa/Casablanca', 'America/St_Johns', 'Asia/Tehran']) {
    const wrong: string[] = [];
    const shows = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'short',
    });
    for (let day = 1; day <= 365; day += 1) {
      const localMs = Date.UTC(2026, 0, day, 4, 17);
      const text = new Date(localMs).toISOString().slice(0, 16).replace('T', ' ');
      if (shows.format(momentOf(localMs, zone)) !== text) wrong.push(text);
    }
    t.strictSame(wrong, [], zone);
  }
  t.end();
});

t.test('a zone that the runtime does not know', (t) => {
  t.throws(() => momentOf(0, 'Moon/Tycho'), RangeError);
  t.end();
});
