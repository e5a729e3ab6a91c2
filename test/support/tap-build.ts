/**
 * tap as this project wants it: its `Test` class is generated with the plugins that package.json
 * leaves in, and each test file loads all that the class has.
 *
 * tap's own `tap build` empties the folder of the class first, and needs the class itself to make
 * it anew: broken off, or two at once, it leaves nothing that could repair it. So the class is made
 * in a folder beside, and its files are put in place one by one, each whole.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const MODULES = join(import.meta.dirname, '..', '..', '..', 'node_modules');

/** tap's command. */
export const TAP = join(MODULES, '.bin', 'tap');

/**
 * In the package that has the generator and the class; another builder's folder has the same name
 * and some letters more.
 */
const CLASS_FOLDER = 'test-built';
/**
 * What tests load is the first; it tells what the class was made with, and so it is put in place
 * last.
 */
const CLASS_FILES = ['dist/esm/index.js', 'dist/commonjs/index.js'];
/**
 * What a builder that was killed has left: it takes seconds, and minutes on a machine that does
 * much else.
 */
const LEFT_BEHIND_MS = 3_600_000;

/**
 * Generates the class unless it is as it should be: a clone comes with tap's default, and
 * generating takes five seconds.
 */
export async function buildTap(modules = MODULES): Promise<void> {
  const folder = join(modules, '@tapjs', 'test');
  const current = join(folder, CLASS_FOLDER);
  if (!CLASS_FILES.every((file) => existsSync(join(current, file)))) {
    throw new Error(
      `tap's class is not in ${current}, and only an installation brings it: run npm test, which installs it, or npm ci.`,
    );
  }
  removeLeftBehind(folder);
  const plugins = await wantedPlugins(modules);
  const signature = `signature = \`${plugins.join('\n')}\``;
  const isCurrent = CLASS_FILES.every((file) => readText(join(current, file)).includes(signature));
  if (isCurrent) return;
  const made = mkdtempSync(`${current}-`);
  try {
    await generate(folder, made, plugins);
    putInPlace(join(made, 'dist'), join(current, 'dist'));
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

const readText = (path: string): string => readFileSync(path, 'utf8');

async function wantedPlugins(modules: string): Promise<readonly string[]> {
  const { defaultPlugins } = (await import(
    join(modules, '@tapjs/test/dist/esm/default-plugins.js')
  )) as { readonly defaultPlugins: readonly string[] };
  const { tap } = JSON.parse(readText(join(modules, '..', 'package.json'))) as {
    readonly tap: { readonly plugin: readonly string[] };
  };
  return defaultPlugins.filter((name) => !tap.plugin.includes(`!${name}`));
}

/**
 * With a package.json of its own that folder is a project of its own to the generator, which leaves
 * more than the class.
 */
async function generate(folder: string, target: string, plugins: readonly string[]): Promise<void> {
  writeFileSync(join(target, 'package.json'), '{}');
  const generator = spawn(
    process.execPath,
    [join(folder, 'dist', 'esm', 'build.mjs'), ...plugins],
    {
      cwd: target,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, _TESTING_TEST_BUILD_TARGET_: target },
    },
  );
  const [out, err, [code, signal]] = await Promise.all([
    text(generator.stdout),
    text(generator.stderr),
    once(generator, 'exit'),
  ]);
  if (code === 0) return;
  throw new Error(`tap's generator of its class ended (${code ?? signal}): ${out}${err}`);
}

/**
 * Moves all files below a folder to another: those who read there meanwhile find the old one or the
 * new one of each.
 */
function putInPlace(from: string, to: string): void {
  const files = readdirSync(from, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !statSync(join(from, name)).isDirectory(),
  );
  const [last] = CLASS_FILES;
  const isLast = (name: string): number => Number(join('dist', name) === last);
  for (const name of files.sort((a, b) => isLast(a) - isLast(b))) {
    mkdirSync(join(to, name, '..'), { recursive: true });
    renameSync(join(from, name), join(to, name));
  }
}

function removeLeftBehind(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!name.startsWith(`${CLASS_FOLDER}-`)) continue;
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changed > LEFT_BEHIND_MS) rmSync(path, { recursive: true, force: true });
  }
}
