import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import t from 'tap';
import { Output } from '../../../../packages/http2/src/codec/output.ts';
import { SlowSocket } from '../../../support/http2/slow-socket.ts';

/** An output, its socket, and what it has said. */
function makeOutput() {
  const socket = new SlowSocket();
  const events: string[] = [];
  const output = new Output(socket, {
    relieved: () => events.push('relieved'),
    overrun: () => events.push('overrun'),
  });
  return { socket, events, output };
}

const BUFFER_OCTETS = 65_536;

t.test('what is written in one turn goes out in one write at its end', async (t) => {
  const { socket, output } = makeOutput();
  output.write(Buffer.from('one '));
  output.reserve(4);
  output.offset += output.buffer.write('two ', output.offset);
  output.write(Buffer.from('three'));
  t.equal(socket.writes.length, 0, 'not before');
  await turn();
  t.same(socket.writes, ['one two three'.length]);
  t.equal(socket.taken().toString(), 'one two three');
  t.equal(output.flushes, 1);
  await turn();
  t.equal(output.flushes, 1, 'nothing more');
});

t.test('a full buffer goes out at once, in order', async (t) => {
  const { socket, output } = makeOutput();
  const first = Buffer.alloc(BUFFER_OCTETS - 10, 'a');
  output.write(first);
  output.write(Buffer.alloc(11, 'b'));
  t.equal(output.flushes, 1);
  await turn();
  t.same(socket.writes, [BUFFER_OCTETS - 10, 11]);
  t.equal(socket.taken().toString(), `${first}${'b'.repeat(11)}`);
});

t.test('more than a buffer has one of its own', async (t) => {
  const { socket, output } = makeOutput();
  output.write(Buffer.from('<'));
  output.write(Buffer.alloc(BUFFER_OCTETS * 2, 'x'));
  output.write(Buffer.from('>'));
  await turn();
  const expected = `<${'x'.repeat(BUFFER_OCTETS * 2)}>`;
  t.ok(socket.taken().toString() === expected);
  output.write(Buffer.from('.'));
  await turn();
  t.ok(socket.taken().toString() === `${expected}.`);
});

t.test('ahead of what was not flushed, behind what was', async (t) => {
  const { socket, output } = makeOutput();
  output.write(Buffer.from('flushed '));
  output.flush();
  output.write(Buffer.from('later'));
  output.writeAhead(Buffer.from('ahead '));
  await turn();
  t.equal(socket.taken().toString(), 'flushed ahead later');
});

t.test('while a write is under way, what comes waits for its end', async (t) => {
  const { socket, output } = makeOutput();
  socket.hold();
  output.write(Buffer.from('one'));
  await turn();
  for (const text of ['two', 'three']) {
    output.write(Buffer.from(text));
    await turn();
  }
  t.same(socket.writes, [3]);
  t.equal(output.flushes, 1, 'its fate is known: it was not sent');
  socket.release();
  await turn();
  t.same(socket.writes, [3, 8], 'in one write');
  t.equal(socket.taken().toString(), 'onetwothree');
});

t.test('behind with 256 KiB at the socket, relieved when there is less', async (t) => {
  const { socket, output, events } = makeOutput();
  socket.hold();
  for (let i = 0; i < 4; i += 1) {
    t.equal(output.isBehind, false);
    output.write(Buffer.alloc(BUFFER_OCTETS, 'x'));
    output.flush();
  }
  t.equal(output.isBehind, true);
  socket.releaseOne();
  await turn();
  t.equal(output.isBehind, false);
  t.same(events, ['relieved']);
  socket.release();
  await turn();
  t.same(events, ['relieved'], 'once');
});

t.test('overrun with more than 1 MiB at the socket', (t) => {
  const { socket, output, events } = makeOutput();
  socket.hold();
  for (let i = 0; i < 16; i += 1) output.writeAhead(Buffer.alloc(BUFFER_OCTETS));
  t.same(events, []);
  output.writeAhead(Buffer.alloc(1));
  t.same(events, ['overrun']);
  t.end();
});

t.test('an owner that ends it when it is overrun: nothing is written after the end', async (t) => {
  const socket = new SlowSocket();
  const errors: Error[] = [];
  socket.on('error', (error) => errors.push(error));
  const output = new Output(socket, {
    relieved: () => undefined,
    overrun: () => output.end(),
  });
  socket.hold();
  for (let i = 0; i < 20; i += 1) output.writeAhead(Buffer.alloc(BUFFER_OCTETS, `${i % 10}`));
  socket.release();
  await turn();
  t.same(errors, []);
  t.equal(socket.taken().length, 16 * BUFFER_OCTETS);
});

t.test('a buffer is not used again before the socket is done with it', async (t) => {
  const step = fc.record({
    kind: fc.constantFrom('write', 'write', 'ahead', 'hold', 'one', 'release', 'turn', 'flush'),
    octets: fc.oneof(fc.nat(100), fc.nat(6_000), fc.nat(BUFFER_OCTETS * 2)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80 }), async (steps) => {
      const { socket, output } = makeOutput();
      const expected = createHash('sha256');
      let inBuffer: Buffer[] = [];
      let flushes = 0;
      // Flushed octets are expected in the order of the flushes.
      const settle = (): void => {
        if (output.flushes === flushes) return;
        flushes = output.flushes;
        for (const octets of inBuffer) expected.update(octets);
        inBuffer = [];
      };
      for (const [i, { kind, octets }] of steps.entries()) {
        const content = Buffer.alloc(octets, (i % 255) + 1);
        if (kind === 'write') {
          output.reserve(octets);
          settle();
          output.offset += content.copy(output.buffer, output.offset);
          inBuffer.push(content);
        } else if (kind === 'ahead') {
          output.writeAhead(content);
          expected.update(content);
        } else if (kind === 'hold') socket.hold();
        else if (kind === 'one') socket.releaseOne();
        else if (kind === 'release') socket.release();
        else if (kind === 'flush') output.flush();
        if (kind === 'turn' || kind === 'one' || kind === 'release') await turn();
        settle();
      }
      socket.release();
      output.end();
      settle();
      await turn();
      const sha256 = (octets: Buffer) => createHash('sha256').update(octets).digest('hex');
      t.equal(sha256(socket.taken()), expected.digest('hex'));
      t.equal(socket.writableFinished, true);
    }),
    { numRuns: 60 },
  );
});

t.test('discarded is what was not flushed', async (t) => {
  const { socket, output } = makeOutput();
  output.write(Buffer.from('sent '));
  output.flush();
  output.write(Buffer.from('never'));
  output.discard();
  output.write(Buffer.from('goodbye'));
  output.end();
  await turn();
  t.equal(socket.taken().toString(), 'sent goodbye');
});

t.test('after the end nothing is taken, and nothing grows', async (t) => {
  const { socket, output } = makeOutput();
  output.write(Buffer.from('last'));
  output.end();
  for (let i = 0; i < 40; i += 1) output.write(Buffer.alloc(BUFFER_OCTETS / 4, 'x'));
  output.writeAhead(Buffer.from('x'));
  output.flush();
  await turn();
  t.equal(socket.taken().toString(), 'last');
  t.equal(output.buffer.length, BUFFER_OCTETS);
  t.equal(socket.writableFinished, true);
});

t.test('a socket that is gone is relieved of all, without an error', async (t) => {
  const { socket, output, events } = makeOutput();
  socket.hold();
  for (let i = 0; i < 5; i += 1) {
    output.write(Buffer.alloc(BUFFER_OCTETS, 'x'));
    output.flush();
  }
  socket.destroy();
  await turn();
  t.equal(output.isBehind, false);
  t.same(events, ['relieved']);
  output.write(Buffer.from('x'));
  await turn();
  t.equal(output.isBehind, false);
});
