import { pino } from 'pino';
import t from 'tap';
import { Circuits } from '../../../src/push/dispatch/circuits.ts';

t.test('open when the first thread says so, closed with the last', (t) => {
  const lines: { readonly msg: string; readonly reason?: string }[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const circuits = new Circuits(log);
  circuits.hear(1, ['7.3', '8.3'], 'ServiceUnavailable');
  circuits.hear(2, ['7.3'], 'ServiceUnavailable');
  circuits.hear(1, ['7.3'], 'ServiceUnavailable');
  t.same(circuits.readings, [
    { appId: 7, platformId: 3, openThreads: 2 },
    { appId: 8, platformId: 3, openThreads: 1 },
  ]);
  circuits.hear(1, ['7.3'], null);
  t.match(circuits.readings, [{ appId: 7, openThreads: 1 }, { appId: 8 }]);
  circuits.hear(2, ['7.3'], null);
  circuits.hear(2, ['7.3'], null);
  t.same(
    circuits.readings.map(({ appId }) => appId),
    [8],
  );
  t.same(
    lines.map(({ msg }) => msg.includes('open')),
    [true, true, false],
    'each told once',
  );
  t.end();
});
