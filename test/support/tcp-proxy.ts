/**
 * A wire that a test can cut without either end hearing of it: as a machine that loses its power,
 * or a network that hangs for a while.
 */

import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import type { Lifetime } from './lifetime.ts';

export interface TcpProxy {
  readonly port: number;
  /** From now on nothing goes through the connections that there are. */
  silence(): void;
  /** Nor through those that come. */
  silenceAll(): void;
  /** Every connection breaks, and who comes is refused: as when the machine's program has ended. */
  end(): void;
  /** Everything goes on, and what was said meanwhile comes late. */
  speak(): void;
}

interface Wire {
  readonly near: Socket;
  readonly far: Socket;
}

/** Passes everything on to a loopback port, from a free one. */
export async function startTcpProxy(t: Lifetime, targetPort: number): Promise<TcpProxy> {
  const wires = new Set<Wire>();
  let isSilent = false;
  const server = createServer((near) => {
    const wire = { near, far: connect(targetPort, '127.0.0.1') };
    wires.add(wire);
    for (const socket of [wire.near, wire.far]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        wires.delete(wire);
        cut(wire);
      });
    }
    if (isSilent) hold(wire);
    else join(wire);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const end = (): void => {
    server.close();
    for (const wire of wires) cut(wire);
  };
  t.teardown(end);
  const silence = (): void => {
    for (const wire of wires) hold(wire);
  };
  return {
    port: (server.address() as { readonly port: number }).port,
    silence,
    silenceAll() {
      isSilent = true;
      silence();
    },
    end,
    speak() {
      isSilent = false;
      for (const wire of wires) join(wire);
    },
  };
}

function join({ near, far }: Wire): void {
  near.pipe(far);
  far.pipe(near);
}

function hold({ near, far }: Wire): void {
  for (const socket of [near, far]) {
    socket.unpipe();
    socket.pause();
  }
}

function cut({ near, far }: Wire): void {
  near.destroy();
  far.destroy();
}
