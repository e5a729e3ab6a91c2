/**
 * The demo of an engine: its devices, and the text of a start, with secrets only where no other
 * machine reaches the engine.
 */

import t from 'tap';
import { readConfig } from '../../../src/app/config.ts';
import { openProviders, tellDemo } from '../../../src/app/demo/engine-demo.ts';
import { secrets } from '../../support/api.ts';
import { withPostgresStore } from '../../support/store.ts';

const credential = (token: string) => ({ token, username: 'user', password: `${token}-password` });
const RUNNING = {
  demo: {
    clientId: 'demo',
    appId: 1,
    platformIds: [3, 15],
    tagIds: [1],
    tagSourceIds: ['news'],
    apiUser: credential('tca_secret'),
    superUser: credential('tcs_secret'),
  },
  simulator: { controlUrl: 'http://127.0.0.1:1' },
} as unknown as Parameters<typeof tellDemo>[2];
const CONSOLE_URL = 'http://127.0.0.1:8080/console/#/sign-in/tcl_secret';

function told(HOST: string): string {
  const printed: string[] = [];
  const settings = { HOST, DATA_DIR: '/data' };
  const terminal = { print: (text: string) => void printed.push(text) };
  tellDemo(settings, 'http://127.0.0.1:8080', RUNNING, CONSOLE_URL, terminal);
  return printed.join('\n');
}

t.test('on this machine all that is needed to try it', (t) => {
  for (const host of ['127.0.0.1', 'localhost', '::1', '127.1.2.3']) {
    for (const secret of ['tca_secret', 'tcs_secret', 'tcl_secret']) t.match(told(host), secret);
  }
  t.end();
});

t.test('where others reach the engine, only where the secrets are', (t) => {
  for (const host of ['0.0.0.0', '::', '10.1.2.3', 'push.example']) {
    const text = told(host);
    t.notMatch(text, /secret/);
    t.match(text, /\/data\/demo\.json has its tokens/);
    t.match(text, host);
  }
  t.end();
});

t.test('an engine for real on the store of a demo begins without its devices', async (t) => {
  await withPostgresStore(t, async (t, store) => {
    const devicesWith = async (DEMO: string) => {
      const read = readConfig({ DEMO, DEMO_DEVICES: '10' });
      if (!read.ok) throw new Error(read.faults.join(' '));
      const { demo } = await openProviders({ config: read.config, store, secrets });
      await demo?.simulator.close();
      return (await store.sql`select from devices`).length;
    };
    t.equal(await devicesWith('1'), 10);
    t.equal(await devicesWith('0'), 0);
  });
});
