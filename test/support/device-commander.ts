/** `tagcast devices` on a store, with files in a folder of its own. */

import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operatorRoutes } from '../../src/api/operator-routes.ts';
import { devicesCommand } from '../../src/cli/devices/devices.ts';
import type { Store } from '../../src/database/store.ts';
import type { Limits } from './app-api.ts';
import type { Lifetime } from './lifetime.ts';
import { makeOperatorParts } from './operator-parts.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { recordedContext } from './terminal.ts';

export function deviceCommander(
  t: Lifetime,
  store: Store,
  limits: Limits = {},
  around?: (ask: typeof fetch) => typeof fetch,
) {
  const directory = temporaryDirectory(t);
  const routes = operatorRoutes(makeOperatorParts(store, { limits }));
  const context = recordedContext(routes, around);
  const signals = new EventEmitter();
  const command = devicesCommand(context, signals);
  return {
    context,
    signals,
    pathOf: (name: string) => join(directory, name),
    write(name: string, content: string | Buffer): string {
      const path = join(directory, name);
      writeFileSync(path, content);
      return path;
    },
    run: (line: string) => command.run(line.split(' ')),
  };
}
