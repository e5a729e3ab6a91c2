import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import t from 'tap';
import { Output } from '../../../../packages/http2/src/codec/output.ts';
import { ContentSender } from '../../../../packages/http2/src/connection/content-sender.ts';
import { FloodGuard } from '../../../../packages/http2/src/connection/flood-guard.ts';
import { Stream } from '../../../../packages/http2/src/stream/stream.ts';
import { SlowSocket } from '../../../support/http2/slow-socket.ts';
import { handed } from '../frame/vectors.ts';

/** A sender, its socket, and the streams whose content it has said to be sent. */
function makeSender({ endsApart = false } = {}) {
  const socket = new SlowSocket();
  const sent: number[] = [];
  const output = new Output(socket, {
    relieved: () => sender.proceed(),
    overrun: () => undefined,
  });
  const onSent = (stream: Stream): void => {
    sent.push(stream.id);
  };
  const sender = new ContentSender<Stream>(output, new FloodGuard(), endsApart, onSent);
  /** Frames since the last call: stream, octets, END_STREAM. */
  const frames = async (): Promise<readonly (readonly [number, number, boolean])[]> => {
    await turn();
    const octets = socket.takeAll();
    return handed(octets).map(({ streamId, start, end, flags }) => [
      streamId,
      end - start,
      flags === 1,
    ]);
  };
  return { socket, sent, output, sender, frames };
}

function makeStream(id: number, sendWindow: number): Stream {
  const stream = new Stream();
  stream.open(id, sendWindow);
  return stream;
}

t.test('content that fits is one frame; larger content several', async (t) => {
  const { sender, sent, frames } = makeSender();
  sender.send(makeStream(1, 65_535), Buffer.alloc(100));
  t.same(await frames(), [[1, 100, true]]);
  sender.send(makeStream(3, 65_535), Buffer.alloc(40_000));
  t.same(await frames(), [
    [3, 16_384, false],
    [3, 16_384, false],
    [3, 7_232, true],
  ]);
  sender.send(makeStream(5, 0), Buffer.alloc(0));
  t.same(await frames(), [[5, 0, true]], 'no content needs no window');
  t.same(sent, [1, 3, 5]);
  t.equal(sender.isWaiting, false);
  t.equal(sender.connectionWindow, 65_535 - 40_100);
});

t.test('END_STREAM apart', async (t) => {
  const { sender, sent, frames } = makeSender({ endsApart: true });
  sender.send(makeStream(1, 10), Buffer.alloc(10));
  t.same(await frames(), [
    [1, 10, false],
    [1, 0, true],
  ]);
  t.same(sent, [1]);
});

t.test('streams take turns', async (t) => {
  const { sender, frames } = makeSender();
  sender.connectionWindow = 0;
  for (const id of [1, 3, 5]) sender.send(makeStream(id, 100_000), Buffer.alloc(20_000));
  t.same(await frames(), []);
  t.equal(sender.isWaiting, true);
  sender.growConnectionWindow(100_000);
  t.same(await frames(), [
    [1, 16_384, false],
    [3, 16_384, false],
    [5, 16_384, false],
    [1, 3_616, true],
    [3, 3_616, true],
    [5, 3_616, true],
  ]);
});

t.test('a stream whose window is closed does not hold up the others', async (t) => {
  const { sender, frames } = makeSender();
  const closed = makeStream(1, 5);
  sender.send(closed, Buffer.alloc(10));
  sender.send(makeStream(3, 100), Buffer.alloc(10));
  t.same(await frames(), [
    [1, 5, false],
    [3, 10, true],
  ]);
  t.equal(closed.sendWindow, 0);
  sender.growStreamWindow(closed, 3);
  t.same(await frames(), [[1, 3, false]]);
  closed.sendWindow = -10;
  sender.growStreamWindow(closed, 10);
  t.same(await frames(), [], 'back at zero');
  sender.growStreamWindow(closed, 100);
  t.same(await frames(), [[1, 2, true]]);
  t.equal(closed.pending, null);
});

t.test('the connection’s window goes to the first ones', async (t) => {
  const { sender, frames } = makeSender();
  sender.connectionWindow = 15;
  for (const id of [1, 3, 5]) sender.send(makeStream(id, 100), Buffer.alloc(10));
  t.same(await frames(), [
    [1, 10, true],
    [3, 5, false],
  ]);
  sender.growConnectionWindow(1);
  t.same(await frames(), [[3, 1, false]]);
});

t.test('a stream that is forgotten sends no more', async (t) => {
  const { sender, sent, frames } = makeSender();
  const stream = makeStream(1, 5);
  sender.send(stream, Buffer.alloc(10));
  t.same(await frames(), [[1, 5, false]]);
  sender.forget(stream);
  t.equal(sender.isWaiting, false);
  sender.growConnectionWindow(100);
  t.same(await frames(), []);
  t.same(sent, []);
});

t.test('windows above 2^31-1', (t) => {
  const { sender } = makeSender();
  t.throws(() => sender.growConnectionWindow(2 ** 31 - 1), { name: 'ConnectionError', code: 3 });
  t.throws(() => sender.growStreamWindow(makeStream(9, 1), 2 ** 31 - 1), {
    name: 'StreamError',
    streamId: 9,
    code: 3,
  });
  t.equal(sender.connectionWindow, 65_535);
  t.end();
});

t.test('a socket that is behind is waited for', async (t) => {
  const { sender, socket, frames, output } = makeSender();
  sender.connectionWindow = 10_000_000;
  socket.hold();
  sender.send(makeStream(1, 10_000_000), Buffer.alloc(1_000_000));
  t.equal(output.isBehind, true);
  t.ok(socket.writableLength <= 5 * 65_536, `${socket.writableLength} octets at the socket`);
  await turn();
  t.ok(socket.writableLength <= 5 * 65_536);
  socket.release();
  let octets = 0;
  for (const [, length] of await frames()) octets += length;
  t.equal(octets, 1_000_000, 'all of it in the end');
});

t.test('each octet once, in order, within both windows', async (t) => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('send' as const), octets: fc.nat(50_000) }),
    fc.record({
      kind: fc.constant('connection' as const),
      octets: fc.integer({ min: 1, max: 60_000 }),
    }),
    fc.record({
      kind: fc.constant('stream' as const),
      octets: fc.integer({ min: 1, max: 60_000 }),
    }),
    fc.record({
      kind: fc.constantFrom('hold' as const, 'release' as const, 'turn' as const),
      octets: fc.constant(0),
    }),
  );
  const steps = fc.array(fc.tuple(step, fc.nat(7)), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(30_000), fc.boolean(), async (steps, window, endsApart) => {
      const { sender, socket } = makeSender({ endsApart });
      const streams: { stream: Stream; content: Buffer; allowed: number }[] = [];
      let allowed = 65_535;
      for (const [{ kind, octets }, which] of steps) {
        const one = streams[which % Math.max(1, streams.length)];
        if (kind === 'send') {
          const stream = makeStream(streams.length * 2 + 1, window);
          const content = Buffer.from(
            Uint8Array.from({ length: octets }, (_, i) => (i * 7 + which) % 251),
          );
          streams.push({ stream, content, allowed: window });
          sender.send(stream, content);
        } else if (kind === 'connection') {
          sender.growConnectionWindow(octets);
          allowed += octets;
        } else if (kind === 'stream' && one !== undefined) {
          sender.growStreamWindow(one.stream, octets);
          one.allowed += octets;
        } else if (kind === 'hold') socket.hold();
        else if (kind === 'release') socket.release();
        if (kind === 'turn' || kind === 'release') await turn();
      }
      socket.release();
      await turn();
      let used = 0;
      const received = new Map<number, Buffer[]>();
      const ended = new Set<number>();
      for (const { streamId, bytes, start, end, flags } of handed(socket.taken())) {
        t.notOk(ended.has(streamId), 'nothing behind END_STREAM');
        if (flags === 1) ended.add(streamId);
        used += end - start;
        const chunks = received.get(streamId) ?? [];
        chunks.push(bytes.subarray(start, end));
        received.set(streamId, chunks);
      }
      t.ok(used <= allowed);
      for (const { stream, content, allowed: ofStream } of streams) {
        const got = Buffer.concat(received.get(stream.id) ?? []);
        t.ok(got.length <= ofStream);
        t.ok(got.equals(content.subarray(0, got.length)));
        t.equal(ended.has(stream.id), stream.pending === null);
        if (ended.has(stream.id)) t.equal(got.length, content.length);
        // A stream that has not sent all was not allowed to.
        else t.ok(got.length === ofStream || used === allowed);
      }
    }),
    { numRuns: 60 },
  );
});
