import { pino } from 'pino';
import t from 'tap';
import { CircuitBreakers } from '../../../src/push/dispatch/circuit-breakers.ts';

t.test('open when the first thread says so, closed with the last', (t) => {
  const lines: { readonly msg: string; readonly reason?: string }[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const circuitBreakers = new CircuitBreakers(log);
  circuitBreakers.hear(1, ['7.3', '8.3'], 'ServiceUnavailable');
  circuitBreakers.hear(2, ['7.3'], 'ServiceUnavailable');
  circuitBreakers.hear(1, ['7.3'], 'ServiceUnavailable');
  t.same(circuitBreakers.readings, [
    { appId: 7, platformId: 3, openThreads: 2 },
    { appId: 8, platformId: 3, openThreads: 1 },
  ]);
  circuitBreakers.hear(1, ['7.3'], null);
  t.match(circuitBreakers.readings, [{ appId: 7, openThreads: 1 }, { appId: 8 }]);
  circuitBreakers.hear(2, ['7.3'], null);
  circuitBreakers.hear(2, ['7.3'], null);
  t.same(
    circuitBreakers.readings.map(({ appId }) => appId),
    [8],
  );
  t.same(
    lines.map(({ msg }) => msg.includes('open')),
    [true, true, false],
    'each told once',
  );
  t.end();
});
