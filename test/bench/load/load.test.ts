/** `npm run bench -- load`, against a running engine with its demo client and simulator. */

import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { z } from 'zod';
import { readOptions } from '../../../bench/load/options.ts';
import { startEngine } from '../../support/processes.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const RUN = join(import.meta.dirname, '..', '..', '..', 'bench', 'run.js');

const reportSchema = z.object({
  profile: z.string(),
  answered: z.object({
    answers: z.number(),
    statuses: z.record(z.string(), z.number()),
    refusals: z.record(z.string(), z.string()),
    samples: z.array(z.object({ answers: z.number() })),
  }),
  sends: z.nullable(
    z.object({ pushes: z.number(), finished: z.number(), succeeded: z.number() }).loose(),
  ),
});

interface Ran {
  readonly code: number;
  readonly output: string;
}

async function run(args: readonly string[], environment = {}): Promise<Ran> {
  const child = promisify(execFile)(process.execPath, [RUN, 'load', ...args], {
    env: { PATH: '', ...environment },
  });
  try {
    const { stdout } = await child;
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

t.test('against an engine', async (t) => {
  const dataDir = temporaryDirectory(t);
  const engine = await startEngine(t, dataDir);
  const demo = engine.demo();
  const demoFile = join(dataDir, 'demo.json');
  const out = temporaryDirectory(t);
  const brief = [`--demo=${demoFile}`, '--seconds=1', '--connections=4', `--out=${out}`];
  const report = () => reportSchema.parse(JSON.parse(readFileSync(join(out, 'load.json'), 'utf8')));
  const devicesOf = async (tagId = demo.tagIds[0]): Promise<number> => {
    const response = await fetch(`${engine.baseUrl}/push-api/v3/demo/notifications/estimate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demo.superUser.token}` },
      body: JSON.stringify({ tagIds: [tagId] }),
    });
    const { audience } = z
      .object({ audience: z.array(z.object({ count: z.number() })) })
      .parse(await response.json());
    return audience.reduce((sum, { count }) => sum + count, 0);
  };
  const before = await devicesOf();

  await t.test('devices register, and have no tags afterwards', async (t) => {
    t.match(await run([...brief, '--rate=200']), { code: 0, output: 'Unsubscribing' });
    const { answered, sends } = report();
    t.same(Object.keys(answered.statuses), ['200']);
    t.equal(answered.statuses['200'], answered.answers);
    t.equal(
      answered.samples.reduce((sum, sample) => sum + sample.answers, 0),
      answered.answers,
    );
    t.ok(answered.answers > 0);
    t.equal(sends, null);
    t.equal(await devicesOf(), before);
    const page = readFileSync(join(out, 'load.html'), 'utf8');
    t.match(page, 'new uPlot');
    t.notMatch(page, / (?:src|href)=/, 'it needs nothing from elsewhere');
  });

  await t.test('a mix of new, known and changing devices, which keep their tags', async (t) => {
    t.match(await run([...brief, '--profile=mixed', '--rate=100', '--keep']), { code: 0 });
    t.same(Object.keys(report().answered.statuses), ['200']);
    t.ok((await devicesOf()) > before);
  });

  await t.test('a tag with many devices must be meant', async (t) => {
    t.match(await run([...brief, '--profile=send', '--audience-max=1']), {
      code: 2,
      output: '--audience-max=',
    });
  });

  await t.test('pushes are followed to their end', async (t) => {
    const args = [...brief, '--profile=send', '--rate=5', '--audience-max=5000'];
    t.match(await run(args), { code: 0 });
    const { sends, answered } = report();
    const { pushes = 0, finished = 0, succeeded = 0 } = sends ?? {};
    t.ok(pushes >= answered.answers, 'also those whose answer came too late');
    t.equal(finished, pushes);
    t.equal(succeeded, pushes * (await devicesOf()));
    t.ok(succeeded > 0);
  });

  await t.test('a refusal is told with its reason', async (t) => {
    const refused = await run([...brief, '--profile=register'], { LOAD_APP_TOKEN: 'tca_wrong' });
    t.match(refused, { code: 1, output: 'answered 401' });
    t.match(refused.output, 'There is no such credential.');
  });
});

t.test('what is wrong is said', async (t) => {
  const folder = temporaryDirectory(t);
  const demo = join(folder, 'demo.json');
  writeFileSync(
    demo,
    JSON.stringify({
      baseUrl: 'http://127.0.0.1:1',
      clientId: 'demo',
      appId: 1,
      tagIds: [2, 3],
      apiUser: { token: 'tca_a' },
      superUser: { token: 'tcs_b' },
    }),
  );
  const wrong = (args: readonly string[], sentence: string | RegExp) =>
    t.rejects(readOptions([`--demo=${demo}`, ...args], {}), { message: sentence });
  await wrong(['--profile=both'], /--profile: there are register, mixed, send; not both/);
  await wrong(['--seconds=0'], /--seconds: a whole number from 1 to 600/);
  await wrong(['--connections=1001'], /--connections/);
  await wrong(['--tags=1,x'], /--tags/);
  await wrong(['--url=ftp://127.0.0.1'], /--url: an http or https address/);
  await wrong(['--url=http://192.0.2.1'], /is not this machine.*--remote/);
  await wrong(['--nonsense'], /nonsense/);
  await t.rejects(readOptions([`--demo=${folder}/none.json`], {}), {
    message: /--url is missing, and there is no demo.json/,
  });
  t.match(await readOptions([`--demo=${demo}`, '--url=https://192.0.2.1/', '--remote'], {}), {
    baseUrl: 'https://192.0.2.1',
    token: 'tca_a',
    tagIds: [2, 3],
  });
  t.match(
    await readOptions([`--demo=${demo}`, '--profile=send', '--tags=9'], { LOAD_TOKEN: 'x' }),
    {
      token: 'x',
      tagIds: [9],
    },
  );
  t.equal(await readOptions(['--help'], {}), null);
});
