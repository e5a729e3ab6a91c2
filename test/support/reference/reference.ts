/** The documents that are generated: what each of them should hold. */

import { apiReference } from './api.ts';
import { cliReference } from './cli.ts';
import { limitsReference } from './limits.ts';
import { metricsReference } from './metrics.ts';
import { exampleEnvironment, settingsReference } from './settings.ts';

/** Keyed by the path from the root of the repository. */
export const REFERENCE: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/api.md': apiReference,
  'docs/reference/cli.md': cliReference,
  'docs/reference/settings.md': settingsReference,
  'docs/reference/limits.md': limitsReference,
  'docs/reference/metrics.md': metricsReference,
  'config/example.env': exampleEnvironment,
};
