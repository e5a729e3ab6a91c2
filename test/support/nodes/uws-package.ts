/**
 * The binary of uWebSockets.js for another version of Node: npm installs only the one for the Node
 * that runs npm.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Found } from './run-to-end.ts';
import { runToEnd } from './run-to-end.ts';

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly version: string; readonly integrity: string }>
  >;
}

export const UWS_SCOPE = '@uwsjs';

export const uwsPackageName = (major: string): string => `${UWS_SCOPE}/linux-x64-${major}`;

/**
 * The folder of the package for this Node, below the folder `cache`: the version and the bytes that
 * the lock file in `root` names.
 */
export function uwsPackage(root: string, major: string, cache: string): Found {
  const name = uwsPackageName(major);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const locked = lock.packages[`node_modules/${name}`];
  if (locked === undefined) return { missing: `package-lock.json has no ${name}` };
  const wanted = `${name}@${locked.version}`;
  const folder = join(cache, wanted);
  if (existsSync(folder)) return { path: folder };
  mkdirSync(dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    const packed = runToEnd(
      'npm',
      ['pack', '--silent', `--pack-destination=${made}`, wanted],
      root,
    );
    if (packed.status !== 0) return { missing: `npm cannot fetch ${wanted}: ${packed.fault}` };
    const archive = join(made, packed.stdout.trim());
    const digest = createHash('sha512').update(readFileSync(archive)).digest('base64');
    if (`sha512-${digest}` !== locked.integrity)
      throw new Error(`${wanted} is not the one that package-lock.json names`);
    const unpacked = runToEnd('tar', ['-xzf', archive], made);
    if (unpacked.status !== 0) throw new Error(`tar cannot unpack ${wanted}: ${unpacked.fault}`);
    renameSync(join(made, 'package'), folder);
    return { path: folder };
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
