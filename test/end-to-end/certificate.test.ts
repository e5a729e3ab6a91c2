/** A certificate that is renewed while the service runs. */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { generate } from 'selfsigned';
import t from 'tap';
import { enginePlace } from '../support/engine-place.ts';
import { until } from '../support/poll.ts';
import { startEngine } from '../support/processes.ts';

t.setTimeout(120_000);

t.test('SIGHUP shows the new certificate, and ends nothing', async (t) => {
  const { dataDir, environment } = await enginePlace(t);
  const settings = {
    ...environment,
    DEMO: '0',
    WORKERS: '1',
    TLS_CERT_FILE: join(dataDir, 'cert.pem'),
    TLS_KEY_FILE: join(dataDir, 'key.pem'),
  };
  const write = async (name: string): Promise<void> => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: name }]);
    writeFileSync(settings.TLS_CERT_FILE, cert);
    writeFileSync(settings.TLS_KEY_FILE, key);
  };
  await write('first');
  const engine = await startEngine(t, dataDir, settings);
  const port = Number(new URL(engine.baseUrl).port);
  const shownName = async (): Promise<string> => {
    const socket = connect({ port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return String(subject.CN);
  };
  t.equal(await shownName(), 'first');
  await write('second');
  engine.child.kill('SIGHUP');
  await until('the new one is shown', async () => ((await shownName()) === 'second' ? true : null));
  await until('the log says so', () =>
    engine.output().match(/"validTo":.*a new certificate is in use/),
  );
  t.equal(await engine.end('SIGTERM'), 0);
});
