/**
 * A package as others get it: packed by npm, and installed in an empty folder. No registry is
 * asked: what the package depends on is copied from the repository's node_modules.
 */

import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { ROOT, readText } from './documents.ts';
import { runProgram } from './programs.ts';
import { temporaryDirectory } from './temporary-directory.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface Installed {
  /** The folder that a user would work in. */
  readonly folder: string;
  /** Imports an entry by its name, as a module in that folder would. */
  load<Module>(entry: string): Promise<Module>;
}

const MODULES = join(ROOT, 'node_modules');

/** Packs and installs `packages/<name>`, and holds what its package.json and README say. */
export async function installPacked(t: Test, name: string): Promise<Installed> {
  const manifest = readManifest(join(ROOT, 'packages', name));
  holdVersions(t, manifest);
  const parent = temporaryDirectory(t);
  const tarball = await pack(t, join(parent, 'checkout'), name);
  const folder = join(parent, 'app');
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  for (const dependency of closureOf(Object.keys(manifest.dependencies ?? {}))) {
    cpSync(join(MODULES, dependency), join(folder, 'node_modules', dependency), {
      recursive: true,
      dereference: true,
    });
  }
  await run(t, folder, 'npm', ['install', '--offline', '--no-save', '--loglevel=error', tarball]);
  await compileUse(t, folder, name, manifest);
  const { resolve } = createRequire(join(folder, 'package.json'));
  return {
    folder,
    load: async <Module>(entry: string) =>
      (await import(pathToFileURL(resolve(entry)).href)) as Module,
  };
}

/** A build in the checkout itself would be in the way of other tests: a copy is packed. */
async function pack(t: Test, checkout: string, name: string): Promise<string> {
  const isWritten = (path: string): boolean => !['node_modules', 'dist'].includes(basename(path));
  for (const path of ['packages', 'tsconfig.json']) {
    cpSync(join(ROOT, path), join(checkout, path), { recursive: true, filter: isWritten });
  }
  symlinkSync(MODULES, join(checkout, 'node_modules'));
  const folder = join(checkout, 'packages', name);
  const out = await run(t, folder, 'npm', ['pack', '--silent', '--offline']);
  return join(folder, out.trim());
}

/** The service was tested with these versions. */
function holdVersions(t: Test, { name, dependencies = {} }: Manifest): void {
  const root = readManifest(ROOT);
  for (const [dependency, version] of Object.entries(dependencies)) {
    t.equal(version, root.dependencies?.[dependency], `${name} needs the root's ${dependency}`);
  }
}

/** Every entry has types, and the first example of the README compiles. */
async function compileUse(t: Test, folder: string, name: string, manifest: Manifest) {
  const entries = Object.keys(manifest.exports).map((entry) => manifest.name + entry.slice(1));
  const imports = entries.map((entry, index) => `export * as entry${index} from '${entry}';`);
  const [, example = ''] = /^```ts\n(.*?)^```/ms.exec(readText(`packages/${name}/README.md`)) ?? [];
  t.match(example, manifest.name, 'the README has an example');
  writeFileSync(join(folder, 'entries.ts'), imports.join('\n'));
  writeFileSync(join(folder, 'example.ts'), example);
  const types = `--types node --typeRoots ${join(MODULES, '@types')}`.split(' ');
  const form = '--noEmit --strict --module nodenext --target es2023'.split(' ');
  const command = join(MODULES, '.bin', 'tsc');
  await run(t, folder, command, [...form, ...types, 'entries.ts', 'example.ts']);
}

/** These and what they depend on, of what is installed here. */
function closureOf(names: readonly string[]): ReadonlySet<string> {
  const found = new Set(names);
  for (const name of found) {
    const folder = join(MODULES, name);
    if (!existsSync(folder)) throw new Error(`${name} is not installed`);
    for (const next of Object.keys(readManifest(folder).dependencies ?? {})) found.add(next);
  }
  return found;
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

async function run(t: Test, cwd: string, program: string, args: readonly string[]) {
  const { code, out, err } = await runProgram(t, program, args, { cwd });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${out}${err}`);
  return out.toString();
}
