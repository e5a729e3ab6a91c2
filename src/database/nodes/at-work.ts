/** Nodes that are at work now, by their heartbeats. */

/**
 * A node beats each second. One that was killed is gone for good after this.
 * @limit a node that was killed counts as at work for a move and for a migration → it does no more
 */
export const SILENT_SECONDS = 10;

/** The condition of `nodes` that holds for them. */
export const AT_WORK = `died_at is null and seen_at > now() - interval '${SILENT_SECONDS} seconds'`;

interface NodeProcess {
  readonly host: string;
  readonly pid: number;
}

/** For people, who look for these processes. */
export const nodesInWords = (nodes: readonly NodeProcess[]): string =>
  nodes.map(({ host, pid }) => `process ${pid} on ${host}`).join(', ');
