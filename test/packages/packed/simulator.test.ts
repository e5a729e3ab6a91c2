import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import t from 'tap';
import type { ProviderAccounts } from '../../../packages/simulator/src/accounts.ts';
import type { SimulatedOrigins } from '../../../packages/simulator/src/providers.ts';
import type * as Simulator from '../../../packages/simulator/src/simulator.ts';
import { installPacked } from '../../support/packed.ts';
import { runProgram } from '../../support/programs.ts';
import { apnsHeaders, apnsToken, ask } from '../simulator/peer.ts';

t.test('its command answers a send, and its module starts one', async (t) => {
  const { folder, load } = await installPacked(t, 'simulator');
  const command = join(folder, 'node_modules', '.bin', 'tagcast-simulator');
  const files = ['--certificate-file', 'ca.pem', '--accounts-file', 'accounts.json'];
  const child = spawn(command, files, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { apnsOrigin } = JSON.parse(line.toString()) as SimulatedOrigins;
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const accounts = JSON.parse(read('accounts.json')) as ProviderAccounts;
  const session = connect(apnsOrigin, { ca: read('ca.pem') });
  const headers = await apnsHeaders(accounts, apnsToken(1));
  t.match(await ask(session, headers, '{"aps":{"alert":"Hello"}}'), { status: 200 });
  const exited = once(child, 'exit');
  session.destroy();
  child.kill('SIGTERM');
  t.same(await exited, [0, null]);

  const cases = [
    [['--help'], 0, /--apns-port <port> .+--scenario .+ {2}outage /s, /^$/],
    [['--rain'], 2, /^$/, /^tagcast-simulator: .*--rain/],
    [['--scenario', 'rain'], 2, /^$/, /^tagcast-simulator: --scenario: there is no 'rain'/],
  ] as const;
  for (const [args, code, out, err] of cases) {
    const ran = await runProgram(t, command, args);
    t.equal(ran.code, code, args.join(' '));
    t.match(ran.out.toString(), out);
    t.match(ran.err, err);
  }

  const { startSimulator } = await load<typeof Simulator>('tagcast-simulator');
  const simulator = await startSimulator();
  t.teardown(() => simulator.close());
  t.equal((await fetch(`${simulator.controlUrl}/state`)).status, 200);
});
