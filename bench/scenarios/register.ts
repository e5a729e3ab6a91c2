/**
 * Registrations over HTTP on PostgreSQL with fsync on: the service beside other servers, and each
 * of its fronts; and on the embedded store.
 */

import type { Result, Scenario } from '../scenario.ts';
import { measureEmbedded } from './register/embedded.ts';
import { measureFronts } from './register/fronts.ts';
import { FEW_TAGS, MANY_TAGS } from './register/grounds.ts';
import { measureOurs, measureServers } from './register/servers.ts';

export const register: Scenario = {
  summary: `devices with ${FEW_TAGS} and ${MANY_TAGS} tags, new and repeated, over kept and new connections; rounds in turns, medians; load, server, PostgreSQL and Redis on this machine`,
  async run(stage): Promise<Result> {
    const servers = await measureServers(stage);
    const fronts = await measureFronts(stage);
    const embedded = await measureEmbedded(stage);
    return {
      ...servers,
      rows: [...servers.rows, ...fronts.rows, ...embedded.rows],
      figures: { ...servers.figures, ...fronts.figures },
    };
  },
  parts: {
    ours: measureOurs,
    servers: measureServers,
    fronts: measureFronts,
    embedded: measureEmbedded,
  },
};
