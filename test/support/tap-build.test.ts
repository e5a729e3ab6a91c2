import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import t from 'tap';
import { until } from './poll.ts';
import { buildTap } from './tap-build.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const INSTALLED = join(import.meta.dirname, '..', '..', '..', 'node_modules');
const CLASS_FILES = ['esm', 'commonjs'].map((name) => join('test-built', 'dist', name, 'index.js'));
/**
 * Of tap's plugins: fewer than this project has, so that the class is another one, and as many as
 * compile together.
 */
const LEFT_IN = ['@tapjs/after', '@tapjs/asserts', '@tapjs/spawn'];
const SIGNATURE = LEFT_IN.join('\n');

interface Checkout {
  readonly modules: string;
  /** tap's package with the class, a copy; all other packages are those of this project. */
  readonly folder: string;
}

/** A project that wants another class than the one it finds. */
async function makeCheckout(t: Test): Promise<Checkout> {
  const { defaultPlugins } = (await import(
    join(INSTALLED, '@tapjs/test/dist/esm/default-plugins.js')
  )) as { readonly defaultPlugins: readonly string[] };
  const plugin = defaultPlugins.filter((name) => !LEFT_IN.includes(name)).map((name) => `!${name}`);
  const root = temporaryDirectory(t, { 'package.json': JSON.stringify({ tap: { plugin } }) });
  const modules = join(root, 'node_modules');
  const folder = join(modules, '@tapjs', 'test');
  mkdirSync(folder, { recursive: true });
  link(INSTALLED, modules, ['@tapjs']);
  link(join(INSTALLED, '@tapjs'), join(modules, '@tapjs'), ['test']);
  link(join(INSTALLED, '@tapjs', 'test'), folder, ['dist', 'scripts', 'test-built']);
  for (const name of ['dist', 'scripts', 'test-built']) {
    cpSync(join(INSTALLED, '@tapjs', 'test', name), join(folder, name), { recursive: true });
  }
  return { modules, folder };
}

function link(from: string, to: string, but: readonly string[]): void {
  for (const name of readdirSync(from)) {
    if (!but.includes(name)) symlinkSync(join(from, name), join(to, name));
  }
}

const signaturesOf = ({ folder }: Checkout): readonly (string | undefined)[] =>
  CLASS_FILES.map(
    (file) => /signature = `([^`]*)`/.exec(readFileSync(join(folder, file), 'utf8'))?.[1],
  );

const besideOf = ({ folder }: Checkout): readonly string[] =>
  readdirSync(folder).filter((name) => name.startsWith('test-built-'));

t.test('two builders at once: the class is there all the time, and then as wanted', async (t) => {
  const checkout = await makeCheckout(t);
  let looks = 0;
  let missing = 0;
  const watch = setInterval(() => {
    looks += 1;
    if (!CLASS_FILES.every((file) => existsSync(join(checkout.folder, file)))) missing += 1;
  }, 1);
  await Promise.all([buildTap(checkout.modules), buildTap(checkout.modules)]);
  clearInterval(watch);
  t.strictSame(signaturesOf(checkout), [SIGNATURE, SIGNATURE]);
  t.ok(looks > 100, `${looks} looks`);
  t.equal(missing, 0);
  t.strictSame(besideOf(checkout), [], 'they have cleared away what they made it in');
  const files = CLASS_FILES.map((file) => join(checkout.folder, file));
  const made = files.map((file) => statSync(file).ino);
  await buildTap(checkout.modules);
  t.strictSame(
    files.map((file) => statSync(file).ino),
    made,
    'the next has nothing to make',
  );
});

t.test('a builder that is killed leaves the class as it was, and the next makes it', async (t) => {
  const checkout = await makeCheckout(t);
  const before = signaturesOf(checkout);
  const module = pathToFileURL(join(import.meta.dirname, 'tap-build.js')).href;
  const script = `await (await import('${module}')).buildTap('${checkout.modules}')`;
  // In a group of its own, as a terminal's Ctrl-C would reach all of it.
  const builder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: 'ignore',
    detached: true,
  });
  const exited = once(builder, 'exit');
  await until('it compiles', () => {
    const [beside = ''] = besideOf(checkout);
    return existsSync(join(checkout.folder, beside, '.tshy-build', 'esm')) || null;
  });
  if (builder.pid !== undefined) process.kill(-builder.pid, 'SIGKILL');
  t.strictSame(await exited, [null, 'SIGKILL']);
  t.strictSame(signaturesOf(checkout), before, 'the class is the one it was');
  const [left = ''] = besideOf(checkout);
  t.not(left, '', 'it was in the middle');

  await buildTap(checkout.modules);
  t.strictSame(signaturesOf(checkout), [SIGNATURE, SIGNATURE]);
  t.strictSame(besideOf(checkout), [left], 'what could be of a living builder stays');

  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(join(checkout.folder, left), longAgo, longAgo);
  await buildTap(checkout.modules);
  t.strictSame(besideOf(checkout), [], 'what is too old for that goes');
});

t.test('what only an installation brings is asked for', async (t) => {
  for (const file of CLASS_FILES) {
    const checkout = await makeCheckout(t);
    rmSync(join(checkout.folder, file));
    await t.rejects(buildTap(checkout.modules), { message: /run npm test, which installs it/ });
    t.strictSame(besideOf(checkout), []);
  }
});
