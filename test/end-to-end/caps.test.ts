/** Caps are exact over nodes and jobs at once, also when a node is killed. */

import t from 'tap';
import { cappedOverNodes } from './capped-nodes.ts';

t.setTimeout(120_000);

t.test('three nodes, six jobs at once, a kill: nobody gets a fourth', (t) =>
  cappedOverNodes(t, { nodes: 3, jobs: 6, kills: 1, cap: 3, devices: 1_500 }),
);
