/**
 * A newer glibc for one program, where the machine has an older one: the binaries of
 * uWebSockets.js for Node 22 and later need 2.38, Debian 12 has 2.36. Debian's next release has it.
 * Its packages are unpacked into a folder and not installed, and a copy of Node names that folder's
 * loader and libraries. What that Node starts runs as ever.
 */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Found } from './run-to-end.ts';
import { runToEnd } from './run-to-end.ts';

const NEEDED = [2, 38] as const;
/** It has glibc 2.41. */
const RELEASE = 'trixie';
/** The libraries that Node is linked with, and the program that changes the copy of Node. */
const PACKAGES = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1', 'patchelf'];
const LIBRARIES = join('usr', 'lib', 'x86_64-linux-gnu');
const LOADER = 'ld-linux-x86-64.so.2';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * The Node to run, so that it has a new glibc: `node` itself where the machine has one, else a copy
 * in the folder `cache`.
 */
export function nodeOnNewerGlibc(node: string, cache: string): Found {
  if (hasNewerGlibc(node)) return { path: node };
  const debian = join(cache, RELEASE);
  const fault = existsSync(debian) ? null : fetchLibraries(debian);
  return fault === null ? changedCopyOf(node, cache, debian) : { missing: fault };
}

function hasNewerGlibc(node: string): boolean {
  const { stdout } = runToEnd(
    node,
    ['-p', 'process.report.getReport().header.glibcVersionRuntime'],
    '/',
  );
  const [major = 0, minor = 0] = stdout.split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

/** Unpacks the packages into a folder, whole or not at all; null, or why it could not. */
function fetchLibraries(folder: string): string | null {
  const mirror = debianMirror();
  if (mirror === null) return 'apt has no mirror of Debian on this machine';
  mkdirSync(dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    const apt = privateApt(made, mirror);
    // Where this fails, the download fails too.
    const update = runToEnd('apt-get', [...apt, 'update', '-q'], made);
    const download = runToEnd('apt-get', [...apt, 'download', '-q', ...PACKAGES], made);
    if (download.status !== 0)
      return `${RELEASE} cannot be fetched: ${update.fault} ${download.fault}`;
    const root = join(made, 'root');
    for (const name of readdirSync(made).filter((name) => name.endsWith('.deb'))) {
      const unpacked = runToEnd('dpkg-deb', ['--extract', name, root], made);
      if (unpacked.status !== 0) return `${name} cannot be unpacked: ${unpacked.fault}`;
    }
    renameSync(root, folder);
    return null;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** The mirror that this machine's own packages come from. */
function debianMirror(): string | null {
  const [, codename] =
    /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  const format = ['indextargets', '--no-release-info', '--format', '$(REPO_URI)'];
  const filters = ['Created-By: Packages', 'Component: main', `Release: ${codename}`];
  const { status, stdout } = runToEnd('apt-get', [...format, ...filters], '/');
  const [mirror = ''] = stdout.split('\n');
  return status === 0 && mirror !== '' ? mirror : null;
}

/** apt's options for lists, sources and a state of its own: the machine's stay as they are. */
function privateApt(folder: string, mirror: string): readonly string[] {
  const sources = join(folder, 'sources.list');
  writeFileSync(sources, `deb [signed-by=${KEYRING}] ${mirror} ${RELEASE} main\n`);
  mkdirSync(join(folder, 'state', 'lists', 'partial'), { recursive: true });
  mkdirSync(join(folder, 'cache', 'archives', 'partial'), { recursive: true });
  const options = {
    'Dir::Etc::SourceList': sources,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::Etc::PreferencesParts': '/dev/null',
    'Dir::State': join(folder, 'state'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': join(folder, 'cache'),
    // apt would write as a user who may not enter this folder.
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
  };
  return Object.entries(options).map(([name, value]) => `-o${name}=${value}`);
}

/**
 * A copy of this Node that uses the loader and the libraries of the folder. It is made again when
 * it does not run: it names that folder, which may have been moved.
 */
function changedCopyOf(node: string, cache: string, debian: string): Found {
  const name = basename(dirname(dirname(node)));
  const copy = join(cache, name, 'bin', 'node');
  if (hasNewerGlibc(copy)) return { path: copy };
  mkdirSync(dirname(copy), { recursive: true });
  const made = `${copy}-${process.pid}`;
  copyFileSync(node, made);
  const libraries = join(debian, LIBRARIES);
  const loader = join(libraries, LOADER);
  // patchelf is of the same release, and so it needs the same loader.
  const patchelf = ['--library-path', libraries, join(debian, 'usr', 'bin', 'patchelf')];
  const change = (...options: readonly string[]): string =>
    runToEnd(loader, [...patchelf, ...options, made], cache).fault;
  // In this order, and one at a time: otherwise patchelf 0.18 makes a program that does not start.
  // An rpath also holds for what the libraries need, a runpath does not.
  const faults = [
    change('--force-rpath', '--set-rpath', libraries),
    change('--set-interpreter', loader),
  ];
  renameSync(made, copy);
  return hasNewerGlibc(copy)
    ? { path: copy }
    : { missing: `${name} does not run: ${faults.join(' ')}` };
}
