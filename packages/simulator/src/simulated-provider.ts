/** The questions that the simulator asks about a provider; `providers.ts` has the table of them. */

import type { AccountBook } from './account-book.ts';
import type { ControlRoute } from './control/control-answer.ts';
import type { PushBook } from './faults/fate.ts';
import type { ProviderRecord } from './record/record.ts';
import type { Removal, Shown } from './record/screens.ts';
import type { Handler, ProviderRequest } from './server/exchange.ts';
import type { ConnectionOptions } from './server/provider-connection.ts';

export interface SimulatedProvider<Origins extends object = object> {
  readonly portFlag: { readonly name: string; readonly of: string };
  /** The limits of the real provider, and its words in GOAWAY. */
  readonly connection: Pick<
    ConnectionOptions,
    'maxConcurrentStreams' | 'streamsAtStart' | 'goAwayText'
  >;
  /** The operator's settings for this provider; `origin`: of its listener. */
  originsOf(origin: string): Origins;
  /** The alert that a device shows of an accepted request. Null: it shows none. */
  shownBy(request: ProviderRequest): Shown | Removal | null;
  /** Makes the provider, for one run of the simulator. */
  play(parts: PlayedParts): PlayedProvider;
}

interface PlayedParts {
  readonly book: PushBook;
  readonly accounts: AccountBook;
}

interface PlayedProvider {
  readonly handle: Handler;
  /** Records beside that of its pushes, by their names in the state. */
  readonly records?: Readonly<Record<string, ProviderRecord>>;
  /** A token as its record keeps it; absent: as it is. */
  tokenOf?(token: string): string;
  /** Resources of the control endpoint that are only its own; `origin`: of its listener. */
  routesAt?(origin: string): readonly ControlRoute[];
  /** Forgets; its pushes, scripts and records are forgotten besides. */
  reset?(): void;
}
