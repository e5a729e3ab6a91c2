/** Takes the lock of a data directory, for the service or a command; a fault says why it cannot. */

import type { Socket } from 'node:net';
import { lockDataDir } from '../database/embedded/lock.ts';
import { SettingFault } from '../std/setting-fault.ts';

/** Answers what gives it back. `onConnection` gets the connections of commands. */
export async function holdDataDir(
  dataDir: string,
  onConnection: (socket: Socket) => void,
): Promise<() => Promise<void>> {
  const lock = await lockDataDir(dataDir, onConnection);
  switch (lock.kind) {
    case 'held':
      return lock.release;
    case 'taken':
      throw new SettingFault(
        `DATA_DIR: ${dataDir} is in use: already running, pid ${lock.pid ?? 'not known yet'}.`,
      );
    case 'path-too-long':
      throw new SettingFault(
        `DATA_DIR: ${dataDir} is too long: the paths of the sockets in it may have ${lock.bytesMax} bytes.`,
      );
  }
}
