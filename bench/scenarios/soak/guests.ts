/**
 * Clients that are no clients: they connect and say nothing, or half a head, or one request and
 * then good-bye.
 */

import type { Socket } from 'node:net';
import { connect } from 'node:net';

type Visit = 'silent' | 'half' | 'once';

const ARRIVE_EVERY_MS = 700;
/** They go by themselves after up to so long, unless the engine has shown them out. */
const STAY_MS_MAX = 30_000;
const HALF_A_HEAD = 'POST /push-api/reg HTTP/1.1\r\nHost: soak\r\nAuthoriz';
const WHOLE = 'GET /livez HTTP/1.1\r\nHost: soak\r\nConnection: close\r\n\r\n';
const VISITS: readonly Visit[] = ['once', 'once', 'half', 'once', 'silent'];

export class Guests {
  private readonly address: { readonly host: string; readonly port: number };
  private readonly here = new Set<Socket>();
  private timer: NodeJS.Timeout | null = null;
  private count = 0;

  constructor(baseUrl: string) {
    const { hostname, port } = new URL(baseUrl);
    this.address = { host: hostname, port: Number(port) };
  }

  start(): void {
    this.timer = setInterval(() => this.arrive(), ARRIVE_EVERY_MS);
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    for (const socket of this.here) socket.destroy();
  }

  private arrive(): void {
    const visit = VISITS[this.count % VISITS.length] ?? 'once';
    this.count += 1;
    const socket = connect(this.address);
    this.here.add(socket);
    const leave = setTimeout(() => socket.destroy(), Math.random() * STAY_MS_MAX);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(leave);
      this.here.delete(socket);
    });
    socket.resume();
    if (visit === 'half') socket.write(HALF_A_HEAD);
    if (visit === 'once') socket.write(WHOLE);
  }
}
