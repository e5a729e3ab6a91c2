/** Checks this machine: Node.js, open files, and the disk of the data directory. */

import { statfs } from 'node:fs/promises';
import { connectionsMaxOf, descriptorsMax } from '../std/descriptors.ts';
import type { Finding } from './finding.ts';
import { findingsAbout } from './finding.ts';

/** Releases that the tests run on (package.json): each from its first minor version. */
const NODE_VERSIONS: Readonly<Record<number, number>> = { 20: 20, 22: 0, 24: 0, 26: 0 };
/** Connections to callers, providers and stores, of a deployment that is more than a trial. */
const DESCRIPTORS_WANTED = 10_000;

const GIB = 1_073_741_824;
const MIB = 1_048_576;
/** The embedded database writes its log in pieces of 16 MiB, and needs room to clean up. */
const FREE_BYTES_MIN = 256 * MIB;
const FREE_BYTES_WANTED = 2 * GIB;

export function checkNode(version: string = process.versions.node): Finding {
  const { ok, warning, problem } = findingsAbout('Node.js');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const minorMin = NODE_VERSIONS[major];
  if (minorMin !== undefined && minor >= minorMin) return ok(version);
  const wanted = Object.keys(NODE_VERSIONS).join(', ');
  return major < 20 || (major === 20 && minorMin !== undefined)
    ? problem(`${version} is too old: install a current release of ${wanted}.`)
    : warning(`${version} is not tested: install a current release of ${wanted}.`);
}

/** `descriptors`: the limit of this process. `isEmbedded`: the database's files are among them. */
export function checkDescriptors(
  isEmbedded: boolean,
  descriptors: number = descriptorsMax(),
): Finding {
  const { ok, warning } = findingsAbout('open files');
  const sentence = `up to ${descriptors}: room for ${connectionsMaxOf(descriptors, isEmbedded)} connections of callers`;
  return descriptors >= DESCRIPTORS_WANTED
    ? ok(sentence)
    : warning(
        `${sentence}. Raise the limit to ${DESCRIPTORS_WANTED} or more where the engine is started (LimitNOFILE=, ulimit -n).`,
      );
}

interface Disk {
  readonly freeBytes: number;
}

/** The free space where this path is; null: there is no such path. */
export async function readDisk(path: string): Promise<Disk | null> {
  try {
    const { bavail, bsize } = await statfs(path);
    return { freeBytes: bavail * bsize };
  } catch {
    return null;
  }
}

/** `isDatabase`: the embedded database lies there, not only what a start makes. */
export function checkDisk(dataDir: string, disk: Disk | null, isDatabase: boolean): Finding {
  const { ok, warning, problem } = findingsAbout('DATA_DIR');
  if (disk === null) return ok(`${dataDir} is made by the first start that needs it`);
  const free = `${dataDir} has ${(disk.freeBytes / GIB).toFixed(1)} GiB free`;
  if (!isDatabase || disk.freeBytes >= FREE_BYTES_WANTED) return ok(free);
  return disk.freeBytes < FREE_BYTES_MIN
    ? problem(`${free}: the database will stop; make room.`)
    : warning(`${free}: make room before the database is full.`);
}
