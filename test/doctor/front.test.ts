import t from 'tap';
import { loadUws } from '../../packages/http1-uws/src/load-uws.ts';
import { checkFront } from '../../src/doctor/front.ts';

t.test('which front callers get here, and why', async (t) => {
  t.match(await checkFront('node'), { level: 'ok', text: 'node (HTTP_FRONT is node)' });
  t.match(await checkFront('auto'), { level: 'ok', text: /^(?:uws 20|node \()/ });
  const { ok } = await loadUws();
  t.match(await checkFront('uws'), { about: 'front', level: ok ? 'ok' : 'problem' });
});
