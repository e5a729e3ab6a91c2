/** The providers as an operator has them who sets nothing. */

import { z } from 'zod';
import { PROVIDER_SETTINGS } from '../../src/providers/operator-settings.ts';
import type { ProviderOrigins } from '../../src/providers/origins.ts';
import { originsOf } from '../../src/providers/origins.ts';

/** The settings of an operator who sets none. */
export const PROVIDER_DEFAULTS = z.object(PROVIDER_SETTINGS).parse({});

/** The real origins. */
export const DEFAULT_ORIGINS: ProviderOrigins = Object.freeze(
  originsOf(PROVIDER_DEFAULTS, null, null),
);
