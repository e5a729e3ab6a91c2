/** The embedded database as an end of a move. The caller holds its directory's lock. */

import type { PGlite } from '@electric-sql/pglite';
import { SettingFault } from '../../std/setting-fault.ts';
import { startInDataDir } from '../embedded/data-dir.ts';
import { openPglite } from '../embedded/open-pglite.ts';
import { thrownText } from '../embedded/thrown.ts';
import type { End } from './end.ts';
import { asArray, SETTINGS } from './end.ts';

interface OnEmbedded {
  readonly dataDir: string;
  readonly fsync: boolean;
  readonly setting: string;
  /** How the transaction is. */
  readonly mode: string;
}

/** Runs `work` in a transaction, which is rolled back when it fails, or the process ends. */
export async function onEmbedded<Result>(
  place: OnEmbedded,
  work: (end: End) => Promise<Result>,
): Promise<Result> {
  // In this process: its bridge serves no COPY of rows that arrive (bridge.ts).
  const database = await startInDataDir(place.dataDir, (directory) =>
    openPglite(directory, place.fsync, (error) => endWith(place, error)),
  );
  try {
    const end = endOf(database, place);
    await end.run(`begin ${place.mode}; ${SETTINGS}`);
    // After an error there is no commit: closing rolls back.
    const result = await work(end);
    await end.run('commit');
    return result;
  } finally {
    await database.close();
  }
}

/** At once, as the engine does: PGlite would go on. What was not committed is rolled back. */
function endWith({ setting, dataDir }: OnEmbedded, error: unknown): never {
  process.stderr.write(
    `${setting}: ${dataDir}: its disk did not take what was written (${thrownText(error)}).\n`,
  );
  process.exit(1);
}

/** The file through which PGlite's COPY reads and writes. */
const BLOB = `'/dev/blob' (format binary)`;

function endOf(database: PGlite, { setting, dataDir }: OnEmbedded): End {
  const named = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw new SettingFault(
        `${setting}: the embedded database in ${dataDir} cannot go on: ${thrownText(error)}.`,
        { cause: error },
      );
    }
  };
  return {
    setting,
    async read<Row>(query: string) {
      const asked = database.query<{ rows: readonly Row[] }>(asArray(query));
      return (await named(asked)).rows[0]?.rows ?? [];
    },
    async run(statements) {
      await named(database.exec(statements));
    },
    async copyOut(query) {
      const { blob } = await named(database.query(`copy (${query}) to ${BLOB}`));
      if (blob === undefined) throw new Error('PGlite has copied nothing');
      return new Uint8Array(await blob.arrayBuffer());
    },
    async copyIn(into, rows) {
      const blob = new Blob([rows as Uint8Array<ArrayBuffer>]);
      await named(database.query(`copy ${into} from ${BLOB}`, [], { blob }));
    },
  };
}
