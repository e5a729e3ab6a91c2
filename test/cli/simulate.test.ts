/** The command as a process: what it prints, writes, refuses, and how it ends. */

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { SCENARIO_NAMES } from '../../packages/simulator/src/faults/scenarios.ts';
import { simulateCommand } from '../../src/cli/simulate.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

interface Addresses {
  readonly apnsOrigin: string;
  readonly controlUrl: string;
}

/** Runs the command as main.ts will: its module, the arguments, the exit code. */
function run(...args: readonly string[]): ChildProcess {
  const command = new URL('../../src/cli/simulate.js', import.meta.url).href;
  const script = `const { simulateCommand } = await import('${command}');
    process.exitCode = await simulateCommand.run(${JSON.stringify(args)});`;
  return spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function firstLine(child: ChildProcess): Promise<Addresses> {
  if (child.stdout === null) throw new Error('stdout is a pipe');
  const [chunk] = await once(child.stdout, 'data');
  return JSON.parse(String(chunk)) as Addresses;
}

async function outputOf(
  child: ChildProcess,
): Promise<readonly [code: number, out: string, err: string]> {
  if (child.stdout === null || child.stderr === null) throw new Error('both are pipes');
  const [[code], out, err] = await Promise.all([
    once(child, 'exit'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return [Number(code), out, err];
}

t.test('it serves until a signal, and its files let an engine in', async (t) => {
  const directory = temporaryDirectory(t);
  const certificateFile = join(directory, 'ca.pem');
  const accountsFile = join(directory, 'accounts.json');
  const files = ['--certificate-file', certificateFile, '--accounts-file', accountsFile];
  const first = run(...files, '--gone', '0.5', '--seed', '9', '--streams', '7');
  const { apnsOrigin, controlUrl } = await firstLine(first);
  const behaviour = await (await fetch(`${controlUrl}/behaviour`)).json();
  t.match(behaviour, { shares: { gone: 0.5 }, seed: 9, maxConcurrentStreams: 7 });

  const session = connect(apnsOrigin, { ca: await readFile(certificateFile) });
  await once(session, 'remoteSettings');
  const accounts = await readFile(accountsFile, 'utf8');
  t.equal((await stat(accountsFile)).mode & 0o777, 0o600);
  const closed = once(session, 'close');
  first.kill('SIGTERM');
  t.same(await once(first, 'exit'), [0, null]);
  await closed;

  const bad = ['--scenario', 'far,go-away', '--scenario', 'small-window', '--goaway-every', '7'];
  const second = run('--accounts-file', accountsFile, ...bad);
  const again = await firstLine(second);
  t.same(await (await fetch(`${again.controlUrl}/accounts`)).json(), [JSON.parse(accounts)]);
  t.match(await (await fetch(`${again.controlUrl}/behaviour`)).json(), {
    roundTripMs: 50,
    windowOctets: 65_535,
    ends: { goAway: 7, cut: 0 },
  });
  second.kill('SIGINT');
  t.same(await once(second, 'exit'), [0, null]);
});

t.test('a wrong flag gets one sentence and the code 2', async (t) => {
  const noAccounts = join(
    temporaryDirectory(t, { 'accounts.json': '{"apns":1}' }),
    'accounts.json',
  );
  for (const [args, sentence] of [
    [['--gone', '1.5'], '--gone'],
    [['--latency-ms', 'soon'], '--latency-ms'],
    [['--fcm-port', '70000'], '--fcm-port'],
    [['--goaway-every=-1'], '--goaway-every'],
    [['--scenario', 'far,rainy'], "there is no 'rainy', only stream-limit, go-away, "],
    [['--bogus'], '--bogus'],
    [['extra'], 'extra'],
    [['--accounts-file', noAccounts], noAccounts],
  ] as const) {
    const written = t.capture(process.stderr, 'write');
    const code = await simulateCommand.run(args);
    const [text = '', ...more] = written().map((call) => String(call.args[0]));
    written.restore();
    t.same([code, more], [2, []], args.join(' '));
    t.match(text, sentence);
    t.equal(text.trim().split('\n').length, 1, text);
  }
});

t.test('a port that is taken gets one sentence and the code 1', async (t) => {
  const first = run();
  t.teardown(() => first.kill());
  const { port } = new URL((await firstLine(first)).apnsOrigin);
  const [code, , err] = await outputOf(run('--fcm-port', port));
  t.equal(code, 1);
  t.match(err, 'EADDRINUSE');
});

t.test('help lists every flag', async (t) => {
  const [code, out] = await outputOf(run('--help'));
  t.equal(code, 0);
  for (const flag of [
    'host',
    'apns-port',
    'latency-ms',
    'gone',
    'silent',
    'seed',
    'accounts-file',
  ]) {
    t.match(out, `--${flag} `);
  }
  for (const name of SCENARIO_NAMES) t.match(out, `  ${name} `);
});
