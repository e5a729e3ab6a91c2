/** The text of a start about the demo: secrets only where no other machine reaches the engine. */

import t from 'tap';
import { tellDemo } from '../../../src/app/demo/engine-demo.ts';

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
