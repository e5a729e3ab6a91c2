/**
 * Swift's compiler, and what it has compiled. It is on PATH; or in the small Debian that .ci/swift
 * makes, which is entered for each command: what is mounted for it is gone when it has ended.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifetime } from '../lifetime.ts';
import type { Ran } from '../programs.ts';
import { findProgram, runProgram } from '../programs.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

/** Also in .ci/swift. */
const DEBIAN = '/opt/tagcast-swift';

export const SWIFT_MISSING = 'not installed: swiftc (root installs it with .ci/swift)';

/** The root of its files. */
export interface Swift {
  readonly root: string;
}

export interface SwiftProject {
  /** The path of a file, as the programs see it. */
  pathOf(file: string): string;
  /** Programs keep what they keep of a user in the project. */
  run(program: string, args: readonly string[]): Promise<Ran>;
}

/** Null: there is none that this user can run. */
export function findSwift(): Swift | null {
  if (findProgram('swiftc') !== null) return { root: '/' };
  const isThere = process.getuid?.() === 0 && existsSync(join(DEBIAN, 'usr', 'bin', 'swiftc'));
  return isThere ? { root: DEBIAN } : null;
}

export function openSwiftProject(
  t: Lifetime,
  { root }: Swift,
  files: Readonly<Record<string, string>>,
): SwiftProject {
  const folder = temporaryDirectory(t, files, join(root, 'tmp'));
  const home = join('/', folder.slice(root.length));
  // Swift's programs find their libraries by /proc.
  const enter = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', `--root=${root}`];
  const [first = 'env', ...words] = [...(root === '/' ? [] : enter), 'env', `HOME=${home}`];
  return {
    pathOf: (file) => join(home, file),
    run: (program, args) => runProgram(t, first, [...words, program, ...args]),
  };
}
