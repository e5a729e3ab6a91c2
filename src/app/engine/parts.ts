/** The parts from which an engine is composed. */

import type { Logger } from 'pino';
import type { Secrets } from '../../access/secrets.ts';
import type { Store } from '../../database/store.ts';
import type { Front } from '../../http/choose-front.ts';
import type { Config } from '../config.ts';

export interface EngineParts {
  readonly config: Config;
  readonly store: Store;
  readonly secrets: Secrets;
  readonly log: Logger;
  readonly front: Front;
}
