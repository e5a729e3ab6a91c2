/** A checkout beside the real one, in which built files may be changed. */

import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

export interface CheckoutCopy {
  readonly folder: string;
  /** Replaces a built file; the path is relative to dist. */
  change(file: string, text: string): void;
  /** Puts back what was built. */
  restore(file: string): void;
  /** An empty folder for what tests write, in place of the one before. */
  emptyTemporary(): string;
  remove(): void;
}

/** Each run of tests writes there: the build, and how long files took. */
const OWN = ['dist', '.tap'];
/** PostgreSQL runs as another user, and has to get through to its directory. */
const OPEN_TO_ALL = 0o755;

/** The build is copied; all else is linked. */
export function copyCheckout(root: string, parent: string): CheckoutCopy {
  const folder = mkdtempSync(join(parent, 'tagcast-mutants-'));
  chmodSync(folder, OPEN_TO_ALL);
  const checkout = join(folder, 'checkout');
  const temporary = join(folder, 't');
  mkdirSync(checkout);
  for (const name of readdirSync(root)) {
    if (!OWN.includes(name)) symlinkSync(join(root, name), join(checkout, name));
  }
  cpSync(join(root, 'dist'), join(checkout, 'dist'), { recursive: true });
  // The real one may be built again meanwhile, from other sources.
  const built = new Map<string, string>();
  const pathOf = (file: string): string => join(checkout, 'dist', file);
  return {
    folder: checkout,
    change(file, text) {
      if (!built.has(file)) built.set(file, readFileSync(pathOf(file), 'utf8'));
      writeFileSync(pathOf(file), text);
    },
    restore(file) {
      const text = built.get(file);
      if (text !== undefined) writeFileSync(pathOf(file), text);
    },
    emptyTemporary() {
      rmSync(temporary, { recursive: true, force: true });
      mkdirSync(temporary);
      return temporary;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
