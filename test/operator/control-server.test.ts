/** Commands and a running engine over its real socket. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pino } from 'pino';
import type { Test } from 'tap';
import t from 'tap';
import { remoteOperatorActions } from '../../src/cli/control-client.ts';
import { engineSocketPath, lockDataDir } from '../../src/database/embedded/lock.ts';
import { serveControl } from '../../src/operator/control-server.ts';
import type { OperatorActions } from '../../src/operator/operator-actions.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

async function engine(t: Test, actions: () => OperatorActions | null): Promise<string> {
  const dataDir = join(temporaryDirectory(t), 'data');
  const log = pino({ level: 'silent' });
  const lock = await lockDataDir(dataDir, (socket) => serveControl(socket, actions, log));
  if (lock.kind !== 'held') throw new Error(lock.kind);
  t.teardown(() => lock.release());
  return dataDir;
}

t.test('what is asked is answered; refusals and failures are sentences', async (t) => {
  const dataDir = await engine(t, () => (action, input) => {
    if (action === 'fail') return Promise.reject(new Error('a secret'));
    return Promise.resolve(
      action === 'no' ? { ok: false, fault: 'No.' } : { ok: true, value: { action, input } },
    );
  });
  const actions = remoteOperatorActions(dataDir);
  t.same(await actions('echo', { text: 'a\nb ü' }), {
    ok: true,
    value: { action: 'echo', input: { text: 'a\nb ü' } },
  });
  t.same(await actions('no', null), { ok: false, fault: 'No.' });
  t.match(await actions('fail', null), { ok: false, fault: /its log says why/ });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => actions('echo', n)));
  t.same(
    answers.map((answer) => answer.ok && (answer.value as { input: number }).input),
    Array.from({ length: 20 }, (_, n) => n),
  );
});

t.test('what is no request, and who hangs up, does no harm', async (t) => {
  const dataDir = await engine(t, () => () => Promise.resolve({ ok: true, value: 1 }));
  const socket = connect(engineSocketPath(dataDir));
  t.teardown(() => socket.destroy());
  const lines = createInterface({ input: socket });
  for (const line of ['not json', '{}', '[]']) {
    socket.write(`${line}\n`);
    const [answer] = await once(lines, 'line');
    t.same(JSON.parse(answer), { ok: false, fault: 'This is not a request.' }, line);
  }
  const hurried = connect(engineSocketPath(dataDir));
  hurried.write('{"action":"a"}\n');
  await once(hurried, 'connect');
  hurried.destroy();
  t.same(await remoteOperatorActions(dataDir)('a', null), { ok: true, value: 1 });
});

t.test('an engine that starts, and one that does not run', async (t) => {
  const dataDir = await engine(t, () => null);
  t.same(await remoteOperatorActions(dataDir)('a', null), {
    ok: false,
    fault: 'The engine is still starting.',
  });
  t.match(await remoteOperatorActions(join(dataDir, 'elsewhere'))('a', null), {
    ok: false,
    fault: /^The engine is not running on .*elsewhere: start it first, or set DATABASE_URL\.$/,
  });
});

t.test('an engine that dies in the middle', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data');
  const lock = await lockDataDir(dataDir, (socket) => {
    socket.once('data', () => socket.destroy());
  });
  if (lock.kind !== 'held') throw new Error(lock.kind);
  t.teardown(() => lock.release());
  t.same(await remoteOperatorActions(dataDir)('a', null), {
    ok: false,
    fault: 'The engine closed the connection without an answer.',
  });
});
