/** A push is watched to its end: at a rate, over a restart of the engine, and when cancelled. */

import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { post } from '../../support/client.ts';
import { until } from '../../support/poll.ts';
import type { Demo } from '../../support/processes.ts';
import { MAIN, startCommand, startEngine } from '../../support/processes.ts';
import { findProgram, freePorts, runProgram } from '../../support/programs.ts';
import { runHere } from '../../support/run-here.ts';
import { seedEmbedded } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Some blocks, as a sender reports them. */
const DEVICES = 400;
/** Seven seconds for a push. */
const RATE = '60';

const deviceOf = (index: number): string => index.toString(16).padStart(64, '0');

async function registerDevices({ baseUrl, appId, apiUser }: Demo): Promise<void> {
  await Promise.all(
    Array.from({ length: DEVICES }, async (_, index) => {
      const body = { appId, platformId: 3, deviceId: deviceOf(index), tagSourceId: 'tennis' };
      const answer = await post(`${baseUrl}/push-api/reg`, apiUser.token, body);
      await answer.text();
    }),
  );
}

t.test('watched to its end', async (t) => {
  const dataDir = temporaryDirectory(t);
  const [port] = await freePorts(1);
  const settings = { PORT: String(port) };
  seedEmbedded(dataDir);
  let engine = await startEngine(t, dataDir, settings);
  await registerDevices(engine.demo());
  const home = temporaryDirectory(t);
  const environment = { HOME: home, DATA_DIR: dataDir };
  const run = (...args: readonly string[]) => runHere(args, environment);
  const send = async (rate: string): Promise<string> => {
    const sent = await run('send', '--tag', 'tennis', '--title', 'goal!', '--rate', rate);
    t.equal(sent.code, 0, sent.output);
    return sent.output.trim();
  };

  const order = async (what: 'pause' | 'resume' | 'cancel', job: string): Promise<void> => {
    const { code, output } = await run('notification', what, job);
    t.equal(code, 0, output);
  };
  /** A push that waits for a process that watches it, which may take long to start. */
  const sendPaused = async (): Promise<string> => {
    const job = await send(RATE);
    await order('pause', job);
    return job;
  };

  await t.test('each change is a line for programs', async (t) => {
    const job = await sendPaused();
    const { output, ended } = startCommand(t, ['status', job, '--watch', '--json'], environment);
    await until('it watches', () => (output() === '' ? null : true));
    await order('resume', job);
    t.equal(await ended, 0);
    const jobs = output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const isPartly = ({ state, successCount }: { state: string; successCount: number }): boolean =>
      state === 'RUNNING' && successCount > 0 && successCount < DEVICES;
    t.ok(jobs.some(isPartly), `${jobs.length} changes`);
    t.match(jobs.at(-1), { state: 'FINISHED', successCount: DEVICES });
  });

  const hasTerminal = findProgram('script') !== null;
  const skip = hasTerminal ? false : 'script (bsdutils) is not installed';
  await t.test('on a terminal a bar, with rate and time left', { skip }, async (t) => {
    const job = await sendPaused();
    const command = `${process.execPath} ${MAIN} status ${job} --watch`;
    const shown = join(home, 'shown');
    const line = `HOME=${home} DATA_DIR=${dataDir} exec script -qefc '${command}' ${shown}`;
    const ended = runProgram(t, 'sh', ['-c', line]);
    await until('it watches', () =>
      existsSync(shown) && readFileSync(shown, 'utf8').includes(' devices') ? true : null,
    );
    await order('resume', job);
    const { code, out } = await ended;
    t.equal(code, 0);
    t.match(out.toString(), /\[#*\.+\] +\d+ % {2}\d+ devices {2}\d+\/s {2}\d+ s left/);
    t.match(out.toString(), new RegExp(`FINISHED {2}${DEVICES} devices: ${DEVICES} accepted`));
  });

  await t.test('a cancelled one', async (t) => {
    const job = await send('1');
    const watched = run('status', job, '--watch');
    await order('cancel', job);
    t.match(await watched, { code: 3, output: /CANCELLED .*cancelled/ });
  });

  await t.test('left with Ctrl-C, it goes on', async (t) => {
    const job = await send('1');
    const { child, end } = startCommand(t, ['status', job, '--watch', '--json'], environment);
    if (child.stdout === null) throw new Error('stdout is a pipe');
    await once(child.stdout, 'data');
    t.equal(await end('SIGINT'), 130);
    t.match(await run('status', job), { code: 0, output: /RUNNING/ });
    await order('cancel', job);
  });

  await t.test('the engine is started again meanwhile', async (inner) => {
    const job = await send('80');
    const watched = run('status', job, '--watch', '--json');
    await until('some are sent', async () => {
      const { output } = await run('status', job, '--json');
      return JSON.parse(output).successCount > 0 ? true : null;
    });
    await engine.end('SIGKILL');
    // Started by the outer test: this one ends it with itself.
    engine = await startEngine(t, dataDir, settings);
    const { code, output } = await watched;
    inner.equal(code, 0, output);
    inner.match(output, /"state":"FINISHED".*\n$/);
  });

  await t.test('one that does not exist', async (t) => {
    const nobody = '019c6f5e-8a53-7d0e-9d3a-6f5c3c0d1e52';
    t.match(await run('status', nobody, '--watch'), { code: 1, output: /no such push job/ });
  });
});
