/** Which front serves callers, by what is set and what can be had. */

import t from 'tap';
import type { Uws } from '../../packages/http1-uws/src/uws.ts';
import { chooseFront, frontInWords } from '../../src/http/choose-front.ts';

const loaded = (version: string, hasPorts: boolean) => async () => ({
  ok: true as const,
  binary: { uws: {} as Uws, version, hasPorts },
});
const current = loaded('20.69.0', true);
const old = loaded('20.51.4', false);
const none = async () => ({ ok: false as const, reason: 'it is not installed' });

t.test('auto takes uWebSockets.js where it runs whole, and says why not', async (t) => {
  t.equal(frontInWords(await chooseFront('auto', current)), 'uws 20.69.0');
  t.match(frontInWords(await chooseFront('auto', old)), /^node \(uWebSockets\.js 20\.51\.4, /);
  t.equal(frontInWords(await chooseFront('auto', none)), 'node (it is not installed)');
});

t.test('uws takes what there is, and nothing else', async (t) => {
  t.equal(frontInWords(await chooseFront('uws', current)), 'uws 20.69.0');
  t.equal(frontInWords(await chooseFront('uws', old)), 'uws 20.51.4');
  await t.rejects(chooseFront('uws', none), {
    name: 'SettingFault',
    message: /^HTTP_FRONT: uws cannot be had here: it is not installed\. Set it to auto or node/,
  });
});

t.test('node loads nothing', async (t) => {
  const fail = async () => t.fail('it is loaded') as never;
  t.equal(frontInWords(await chooseFront('node', fail)), 'node (HTTP_FRONT is node)');
});
