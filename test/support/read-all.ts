/**
 * Reads a whole text in a format, cut into pieces of a given size: what comes out must not depend
 * on it.
 */

import type { Entry } from '../../packages/device-files/src/file-device.ts';
import type { Format } from '../../packages/device-files/src/format.ts';
import { readEntries } from '../../packages/device-files/src/read-entries.ts';

export async function readAll(
  format: Format,
  file: string | Buffer,
  pieceOctets = 7,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const some of readEntries(piecesOf(Buffer.from(file), pieceOctets), format)) {
    entries.push(...some);
  }
  return entries;
}

async function* piecesOf(octets: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < octets.length; start += size) {
    yield await Promise.resolve(octets.subarray(start, start + size));
  }
}

/** A device as a short text, a fault as its sentence, for a comparison that can be read. */
export function describe(entry: Entry): string {
  switch (entry.kind) {
    case 'device': {
      const { platformId, deviceId, appVersion, registeredAtMs, tags } = entry.device;
      const names = tags.map(({ sourceId, id }) => sourceId ?? id);
      return `${entry.line} ${platformId} ${deviceId} ${appVersion} ${registeredAtMs} [${names}]`;
    }
    case 'fault':
      return `${entry.line} ${entry.sentence}`;
    case 'passed':
      return `${entry.line} passed: ${[entry.platformId, entry.reason].join(' ').trim()}`;
  }
}
