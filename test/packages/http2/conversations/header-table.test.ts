/** RFC 7541 and RFC 9113, 4.3: the two tables of a connection stay in step. */

import { once } from 'node:events';
import type { ServerHttp2Session } from 'node:http2';
import { createServer } from 'node:http2';
import t from 'tap';
import type { Pair } from '../../../support/http2/blocks.ts';
import {
  indexed,
  inserted,
  insertedByIndex,
  literal,
  sizeUpdate,
} from '../../../support/http2/blocks.ts';
import type { Scene } from '../../../support/http2/conversation.ts';
import { conversation } from '../../../support/http2/conversation.ts';
import {
  Code,
  continuation,
  data,
  END_HEADERS,
  END_STREAM,
  headers,
  headersOf,
  Id,
  rstStream,
  settings,
  settingsAck,
} from '../../../support/http2/frames.ts';
import { GET, RecordedClient } from '../../../support/http2/recorded-client.ts';
import { socketPair } from '../../../support/http2/socket-pair.ts';

const LAST = END_HEADERS | END_STREAM;
const STATUS_200 = indexed(8);
const OWN = {
  ...GET,
  fields: [{ name: 'x-own', value: 'of ours', indexing: 'incremental' }],
} as const;

conversation(
  'HEADER_TABLE_SIZE 0: the NEXT block begins with a size update to 0',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    await client.request(OWN);
    await peer.expectRequest();
    await client.request(OWN);
    const short = await peer.expectRequest();
    t.ok(short.block.length < 30, 'the table is used');
    peer.send(settings([Id.HEADER_TABLE_SIZE, 0]));
    await peer.expect(settingsAck);
    await client.request(OWN);
    const first = await peer.expectRequest();
    t.equal(first.block[0], 0x20, 'size update to 0');
    t.same(first.fields.at(-1), ['x-own', 'of ours']);
    await client.request(OWN);
    const second = await peer.expectRequest();
    t.not((second.block[0] ?? 0) & 0xe0, 0x20, 'said once');
    t.same(second.fields, first.fields);
    await client.request(OWN);
    t.same((await peer.expectRequest()).block, second.block, 'no table, no state');
  },
);

conversation(
  'HEADER_TABLE_SIZE lowered and raised: the lowest value, then the final one',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    await client.request(OWN);
    await peer.expectRequest();
    peer.send(settings([Id.HEADER_TABLE_SIZE, 0], [Id.HEADER_TABLE_SIZE, 4_096]));
    await peer.expect(settingsAck);
    await client.request(OWN);
    const { block: next, fields } = await peer.expectRequest();
    const updates = Buffer.concat([sizeUpdate(0), sizeUpdate(4_096)]);
    t.same(next.subarray(0, updates.length), updates);
    t.same(fields.at(-1), ['x-own', 'of ours']);
    await client.request(OWN);
    t.same((await peer.expectRequest()).fields, fields, 'in step afterwards');
  },
);

conversation(
  'HEADER_TABLE_SIZE lowered in steps: only the lowest and the last count',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    await client.request(OWN);
    await peer.expectRequest();
    for (const octets of [1_000, 64, 500]) peer.send(settings([Id.HEADER_TABLE_SIZE, octets]));
    for (let i = 0; i < 3; i += 1) await peer.expect(settingsAck);
    await client.request(OWN);
    const updates = Buffer.concat([sizeUpdate(64), sizeUpdate(500)]);
    t.same((await peer.expectRequest()).block.subarray(0, updates.length), updates);
  },
);

conversation(
  'HEADER_TABLE_SIZE raised: our table stays within 4096, and in step',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet([Id.HEADER_TABLE_SIZE, 65_536]);
    await client.request(OWN);
    const first = await peer.expectRequest();
    await client.request(OWN);
    t.same((await peer.expectRequest()).fields, first.fields);
  },
);

conversation(
  'HPACK: EVERY block is decoded, also of a stream that we have reset',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const cancelled = await client.request(GET);
    await peer.expectRequest();
    client.cancel(cancelled);
    await peer.expect(rstStream(cancelled.streamId, Code.CANCEL));
    const insertion = Buffer.concat([STATUS_200, inserted('x-kept', 'in step')]);
    peer.send(headersOf(cancelled.streamId, insertion, LAST));
    const sent = await client.request(GET);
    await peer.expectRequest();
    peer.send(headersOf(sent.streamId, Buffer.concat([STATUS_200, indexed(62)]), LAST));
    t.match(await sent.end, { fields: { 'x-kept': 'in step' } });
  },
);

conversation('HPACK: the block of a response that is malformed is decoded too', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const first = await client.request(GET);
  const second = await client.request(GET);
  await peer.expectRequest();
  await peer.expectRequest();
  const noStatus = Buffer.concat([inserted('Upper', 'x'), inserted('x-kept', 'in step')]);
  peer.send(headersOf(first.streamId, noStatus, LAST));
  await peer.expect(rstStream(first.streamId, Code.PROTOCOL_ERROR));
  t.match(await first.end, { kind: 'failed' });
  peer.send(headersOf(second.streamId, Buffer.concat([STATUS_200, indexed(62)]), LAST));
  t.match(await second.end, { fields: { 'x-kept': 'in step' } });
});

const HUFFMAN_EOS = Buffer.from([0x00, 0x01, 0x78, 0x84, 0xff, 0xff, 0xff, 0xfc]);
const BAD_BLOCKS: Readonly<Record<string, Buffer>> = {
  'index 0': Buffer.from([0x80]),
  'an index past the table': indexed(62),
  'a name index past the table': insertedByIndex(70, 'x'),
  'a size update above our limit': Buffer.concat([sizeUpdate(4_097), STATUS_200]),
  'a size update after a field': Buffer.concat([STATUS_200, sizeUpdate(0)]),
  'the Huffman code of EOS': HUFFMAN_EOS,
  'Huffman padding of more than 7 bits': Buffer.from([0x00, 0x01, 0x78, 0x82, 0x1f, 0xff]),
  'Huffman padding that is not all ones': Buffer.from([0x00, 0x01, 0x78, 0x81, 0x18]),
  'an integer overflow': Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
  'an integer that never ends': Buffer.from([0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]),
  'a string longer than the block': Buffer.from([0x00, 0x0a, 0x78]),
  'a literal without its value': Buffer.from([0x00, 0x01, 0x78]),
};
for (const [what, bad] of Object.entries(BAD_BLOCKS)) {
  conversation(`HPACK: ${what} is COMPRESSION_ERROR`, async ({ peer, client }) => {
    await peer.greet();
    const { streamId } = await client.request(GET);
    await peer.expectRequest();
    peer.send(headersOf(streamId, bad, LAST));
    await peer.expectGoAway(Code.COMPRESSION_ERROR);
  });
}

conversation('HPACK: a bad block on a reset stream is COMPRESSION_ERROR as well', async (scene) => {
  const { peer, client } = scene;
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  client.cancel(sent);
  await peer.expect(rstStream(sent.streamId, Code.CANCEL));
  peer.send(headersOf(sent.streamId, indexed(99), LAST));
  await peer.expectGoAway(Code.COMPRESSION_ERROR);
});

conversation(
  'HPACK: an entry larger than the table empties it, which is no error',
  async (scene) => {
    const first = Buffer.concat([
      STATUS_200,
      inserted('a', 'b'),
      inserted('big', 'x'.repeat(4_096)),
    ]);
    await answerWith(scene, first, { a: 'b' });
    const sent = await scene.client.request(GET);
    await scene.peer.expectRequest();
    scene.peer.send(headersOf(sent.streamId, indexed(62), LAST));
    await scene.peer.expectGoAway(Code.COMPRESSION_ERROR);
  },
);

conversation('HPACK: a name reference to an entry being evicted works', async (scene) => {
  const name = 'x-name';
  const filled = [STATUS_200, sizeBlock(name, 4_000)];
  await answerWith(scene, Buffer.concat(filled), {});
  const next = Buffer.concat([STATUS_200, insertedByIndex(62, 'y'.repeat(3_900)), indexed(62)]);
  await answerWith(scene, next, { [name]: 'y'.repeat(3_900) });
});

conversation('HPACK: eviction comes before insertion, in both tables alike', async (scene) => {
  const many = Array.from({ length: 50 }, (_, i) => inserted(`x-${i}`, 'v'.repeat(60)));
  await answerWith(scene, Buffer.concat([STATUS_200, ...many]), { 'x-49': 'v'.repeat(60) });
  // Each is 92 to 96 octets large: 41 of them or so are there; the newest is 62.
  await answerWith(scene, Buffer.concat([STATUS_200, indexed(62), indexed(102)]), {
    'x-49': 'v'.repeat(60),
    'x-9': 'v'.repeat(60),
  });
});

conversation('HPACK: duplicates in the table are legal', async (scene) => {
  const twice = Buffer.concat([STATUS_200, inserted('a', 'b'), inserted('a', 'b')]);
  await answerWith(scene, twice, { a: 'b' });
  await answerWith(scene, Buffer.concat([STATUS_200, indexed(62)]), { a: 'b' });
  await answerWith(scene, Buffer.concat([STATUS_200, indexed(63)]), { a: 'b' });
});

conversation('HPACK: never-indexed and unindexed literals leave the table alone', async (scene) => {
  const never = Buffer.concat([STATUS_200, literal('a', '1', 0x10), literal('b', '2')]);
  await answerWith(scene, never, { a: '1', b: '2' });
  const sent = await scene.client.request(GET);
  await scene.peer.expectRequest();
  scene.peer.send(headersOf(sent.streamId, indexed(62), LAST));
  await scene.peer.expectGoAway(Code.COMPRESSION_ERROR);
});

conversation('HPACK: our never-indexed field is written as one, each time', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const secret = { name: 'authorization', value: 'key', indexing: 'never' } as const;
  const form = { ...GET, fields: [secret] };
  for (let i = 0; i < 2; i += 1) {
    await client.request(form);
    const { block: sent, fields } = await peer.expectRequest();
    t.same(fields.at(-1), ['authorization', 'key']);
    t.ok(sent.includes(Buffer.from([0x1f, 0x08])), '6.2.3 with name 23 of the static table');
  }
});

conversation('HPACK: Huffman-coded responses are decoded', async (scene) => {
  // RFC 7541, C.6.1: 302, cache-control: private.
  const text = '488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff';
  await answerWith(scene, Buffer.from(text, 'hex'), {
    'cache-control': 'private',
    date: 'Mon, 21 Oct 2013 20:13:21 GMT',
  });
});

conversation('HPACK: a size update of the peer is followed', async (scene) => {
  await answerWith(scene, Buffer.concat([STATUS_200, inserted('a', 'b')]), { a: 'b' });
  const both = [sizeUpdate(0), sizeUpdate(4_096), STATUS_200, inserted('c', 'd'), indexed(62)];
  await answerWith(scene, Buffer.concat(both), { c: 'd' });
  const sent = await scene.client.request(GET);
  await scene.peer.expectRequest();
  scene.peer.send(headersOf(sent.streamId, indexed(63), LAST));
  await scene.peer.expectGoAway(Code.COMPRESSION_ERROR);
});

conversation(
  'HPACK: a header list above our limit fails only its stream, and later blocks still decode',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const first = await client.request(GET);
    const second = await client.request(GET);
    await peer.expectRequest();
    await peer.expectRequest();
    const references = Buffer.alloc(16_000, indexed(62));
    const large = Buffer.concat([STATUS_200, inserted('x', 'y'.repeat(100)), references]);
    peer.send(headersOf(first.streamId, large.subarray(0, 16_000), END_STREAM));
    peer.send(continuation(first.streamId, large.subarray(16_000), END_HEADERS));
    await peer.expect(rstStream(first.streamId, Code.PROTOCOL_ERROR));
    t.match(await first.end, { kind: 'failed', isUnprocessed: false, reason: /too large/ });
    peer.send(headersOf(second.streamId, Buffer.concat([STATUS_200, indexed(62)]), LAST));
    t.match(await second.end, { fields: { x: 'y'.repeat(100) } });
  },
  { deliveries: 'whole' },
);

conversation('HPACK: a field of ours that is no Latin-1 costs no stream', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const wide = { name: 'x-wide', value: '\u20ac', indexing: 'without' } as const;
  t.throws(() =>
    client.connection.send(client.connection.prepare({ ...GET, fields: [wide] }), '', NOBODY),
  );
  t.equal(client.connection.capacity, 100, 'nothing was opened');
  await answer(scene, [[':status', '200']]);
  await peer.expectQuiet();
});

const NOBODY = { answered: () => undefined, failed: () => undefined };

void t.test('HEADER_TABLE_SIZE: the decoder of node:http2 follows ours up and down', async (t) => {
  const sessions: ServerHttp2Session[] = [];
  const server = createServer();
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream, fields) => {
    stream.respond({ ':status': 200 });
    stream.end(`${fields[':path']} ${fields['x-own']}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const [ours, theirs] = socketPair();
  t.teardown(() => {
    ours.destroy();
    server.close();
  });
  server.emit('connection', theirs);
  const client = new RecordedClient(ours, {});
  const stuck = setTimeout(() => ours.destroy(), STUCK_AFTER_MS);
  for (const [i, headerTableSize] of [4_096, 0, 4_096, 100, 60, 8_192, 0].entries()) {
    sessions[0]?.settings({ headerTableSize });
    for (let j = 0; j < 4; j += 1) {
      const sent = await client.request({ ...OWN, path: `/${i}/` }, `${j}`);
      t.match(await sent.end, { status: 200, body: `/${i}/${j} of ours` });
    }
  }
  clearTimeout(stuck);
  client.finish();
});

const STUCK_AFTER_MS = 20_000;

/** An entry whose value is so long. */
const sizeBlock = (name: string, octets: number): Buffer => inserted(name, 'x'.repeat(octets));

/** One request, answered with this block; the fields that matter are checked. */
async function answerWith(
  { t, peer, client }: Scene,
  fieldBlock: Buffer,
  fields: Readonly<Record<string, string>>,
): Promise<void> {
  if (peer.clientSettings === null) await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  peer.send(headersOf(sent.streamId, fieldBlock, LAST));
  t.match(await sent.end, { kind: 'answered', fields });
}

async function answer({ t, peer, client }: Scene, fields: readonly Pair[]): Promise<void> {
  const sent = await client.request(GET);
  await peer.expectRequest();
  peer.send(headers(sent.streamId, fields), data(sent.streamId, '', END_STREAM));
  t.match(await sent.end, { kind: 'answered' });
}
