/** `tagcast doctor` beside engines: of a demo, and on a PostgreSQL with a simulator. */

import t from 'tap';
import type { Finding } from '../../src/doctor/finding.ts';
import { runCommand, startEngine, startSimulatorProcess } from '../support/processes.ts';
import { freePorts } from '../support/programs.ts';
import { runHere } from '../support/run-here.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

await withPostgres(t, async (t, url) => {
  const simulator = await startSimulatorProcess(t);
  const [port] = await freePorts(1);
  const environment = {
    ...simulator.environment,
    DATABASE_URL: url,
    SECRET_KEY: 'x'.repeat(32),
    DATA_DIR: temporaryDirectory(t),
    PORT: String(port),
    WORKERS: '1',
  };
  const examine = async (...flags: readonly string[]) => {
    const { code, output } = await runHere(['doctor', '--json', ...flags], environment);
    const findings: readonly Finding[] = JSON.parse(output);
    const problems = findings.filter(({ level }) => level === 'problem');
    t.equal(code, problems.length === 0 ? 0 : 1);
    return {
      // The tests' server is set for speed.
      problems: problems.filter(({ text }) => !text.startsWith('fsync')),
      of: (about: string) => findings.filter((finding) => finding.about === about),
    };
  };
  const before = await examine();
  t.same(before.problems, [], 'an empty database is no problem');
  t.match(before.of('engine'), [{ level: 'warning', text: /nothing answers/ }]);

  await startEngine(t, environment.DATA_DIR, environment);
  const client = ['demo', '--accounts-file', simulator.accountsFile];
  t.equal((await runHere(client, environment)).code, 0);
  const running = await examine('--probe');
  t.same(running.problems, []);
  t.match(running.of('engine'), [{ level: 'ok', text: /is ready/ }]);
  t.match(running.of('SECRET_KEY'), [{ level: 'ok' }]);
  t.match(running.of('credentials'), [
    { level: 'ok', text: /app 1 on platform 3/ },
    { level: 'ok', text: /app 1 on platform 15/ },
  ]);

  const other = { ...environment, SECRET_KEY: 'y'.repeat(32) };
  const wrong = await runCommand(t, ['doctor'], other);
  t.match(wrong, {
    code: 1,
    output: /^problem +SECRET_KEY .*\n[\s\S]*\d problems?, \d+ warnings?/m,
  });
});

t.test('of a demo', async (t) => {
  const environment = { DATA_DIR: temporaryDirectory(t), EMBEDDED_FSYNC: '1' };
  const { code, output } = await runCommand(t, ['doctor'], environment);
  t.equal(code, 0);
  t.match(output, /^ok +database .*survives a power cut/m);
  t.match(output, /^warning +database .*only its engine/m);

  const mistyped = {
    ...environment,
    DATABSE_URL: 'postgres://db/news',
    SECRET_KEY: 'x'.repeat(32),
  };
  const doubtful = await runCommand(t, ['doctor'], mistyped);
  t.equal(doubtful.code, 0);
  t.match(doubtful.output, /^warning +settings +DATABSE_URL is not read: call it DATABASE_URL/m);
  t.match(doubtful.output, /^warning +settings +SECRET_KEY without DATABASE_URL/m);
});

t.test('wrong settings are findings, too', async (t) => {
  const json = async (environment: Readonly<Record<string, string>>) => {
    const { code, output, errors } = await runHere(['doctor', '--json'], environment);
    t.equal(code, 1);
    t.equal(errors, '');
    return JSON.parse(output);
  };
  const [port, workers] = [/^PORT: /, /^WORKERS: /].map((text) => ({
    about: 'settings',
    level: 'problem',
    text,
  }));
  t.match(await json({ PORT: 'x', WORKERS: 'y' }), [port, workers]);
  const found: readonly Finding[] = await json({ DATABASE_URL: 'postgres://127.0.0.1:1/none' });
  const settings = found.filter(({ about }) => about === 'settings');
  t.match(settings, [{ level: 'problem', text: /^SECRET_KEY: must be set/ }]);
  t.match(await runCommand(t, ['doctor'], { PORT: 'x' }), {
    code: 1,
    output: /^problem +settings +PORT: .*\n\n1 problem, /m,
  });
});
