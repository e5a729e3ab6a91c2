/** Chooses the front that serves callers: uWebSockets.js where it can be had, else our own. */

import type { UwsBinary } from '../../packages/http1-uws/src/listener.ts';
import type { LoadedUws } from '../../packages/http1-uws/src/load-uws.ts';
import { SettingFault } from '../std/setting-fault.ts';

export const HTTP_FRONTS = ['auto', 'uws', 'node'] as const;

export type Front =
  | { readonly kind: 'uws'; readonly version: string; readonly binary: UwsBinary }
  /** `reason`: why it is not uWebSockets.js. */
  | { readonly kind: 'node'; readonly reason: string };

/** Loaded when it is wanted: each command reads the settings, and so this file. */
const loadLate = async (): Promise<LoadedUws> =>
  (await import('../../packages/http1-uws/src/load-uws.ts')).loadUws();

/** Rejects with a SettingFault when uWebSockets.js is asked for and cannot be had. */
export async function chooseFront(
  setting: (typeof HTTP_FRONTS)[number],
  load: () => Promise<LoadedUws> = loadLate,
): Promise<Front> {
  if (setting === 'node') return { kind: 'node', reason: 'HTTP_FRONT is node' };
  const loaded = await load();
  if (!loaded.ok) {
    if (setting === 'auto') return { kind: 'node', reason: loaded.reason };
    throw new SettingFault(
      `HTTP_FRONT: uws cannot be had here: ${loaded.reason}. Set it to auto or node, or see docs/operate/configure.md, "The front".`,
    );
  }
  const { binary } = loaded;
  const { version, hasPorts } = binary;
  if (setting === 'auto' && !hasPorts) {
    const reason = `uWebSockets.js ${version}, the last one for this Node.js, cuts off some uploads; HTTP_FRONT=uws takes it`;
    return { kind: 'node', reason };
  }
  return { kind: 'uws', version, binary };
}

/** The front in a few words, for the log and for people. */
export const frontInWords = (front: Front): string =>
  front.kind === 'uws' ? `uws ${front.version}` : `node (${front.reason})`;
