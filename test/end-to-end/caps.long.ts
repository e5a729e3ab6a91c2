/** Caps are exact over many nodes, jobs at once and kills. */

import t from 'tap';
import { cappedOverNodes } from './capped-nodes.ts';

t.setTimeout(580_000);

t.test('eight nodes, twenty jobs at once, eight kills: nobody gets a fourth', (t) =>
  cappedOverNodes(t, { nodes: 8, jobs: 20, kills: 8, cap: 3, devices: 20_000 }),
);
