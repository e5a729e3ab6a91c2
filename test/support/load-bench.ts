/** `npm run bench -- load`, against a running engine with its demo client and simulator. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { z } from 'zod';
import { enginePlace } from './engine-place.ts';
import { startEngine } from './processes.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const RUN = join(import.meta.dirname, '..', '..', 'bench', 'run.js');

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

export async function run(args: readonly string[], environment = {}): Promise<Ran> {
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

/** An engine to load, the flags of a brief run against it, and what that run reported. */
export async function startLoaded(t: Test) {
  const { dataDir, environment } = await enginePlace(t);
  const engine = await startEngine(t, dataDir, environment);
  const demo = engine.demo();
  const demoFile = join(dataDir, 'demo.json');
  const out = temporaryDirectory(t);
  // A busy machine may answer nothing within a second, which is no success.
  const brief = [`--demo=${demoFile}`, '--seconds=3', '--connections=4', `--out=${out}`];
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
  return { brief, out, report, devicesOf, demo };
}
