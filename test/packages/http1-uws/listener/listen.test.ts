/** Why the listener cannot listen. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { listenFault } from '../../../../src/http/address-fault.ts';
import { onUws } from '../../../support/fronts.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { echo, startUws } from '../../../support/uws.ts';

const { test } = await onUws(t);

test('a port that is in use', async (t, binary) => {
  const { port } = await startUws(t, binary, echo);
  await t.rejects(startUws(t, binary, echo, { port }), { code: 'EADDRINUSE' });
});

test('a certificate that uWebSockets.js does not take', async (t, binary) => {
  const directory = temporaryDirectory(t);
  const files = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') };
  for (const file of Object.values(files)) writeFileSync(file, 'no PEM');
  const certificate = { files, onChanged: () => undefined };
  const fault = await startUws(t, binary, echo, { certificate }).then(
    () => null,
    (error: NodeJS.ErrnoException) => listenFault({ host: '127.0.0.1', port: 1 }, error),
  );
  t.match(fault?.message, /^TLS_CERT_FILE: /);
});
