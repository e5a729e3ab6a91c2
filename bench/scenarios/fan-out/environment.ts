/** The settings that make an engine send to a sink. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { Sink } from '../../sinks/sink.ts';
import { originOf } from '../../sinks/sink.ts';

export function environmentOf(stage: Lifetime, sink: Sink): Readonly<Record<string, string>> {
  const caFile = join(temporaryDirectory(stage), 'ca.pem');
  writeFileSync(caFile, sink.ca);
  return { APNS_ORIGIN: originOf(sink), PROVIDER_CA_FILE: caFile };
}
