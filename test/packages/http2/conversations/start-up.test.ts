/** RFC 9113, 3.4: how a connection begins. */

import t from 'tap';
import { conversation } from '../../../support/http2/conversation.ts';
import {
  ACK,
  Code,
  END_STREAM,
  frame,
  goAway,
  headers,
  Id,
  ping,
  pingAck,
  settings,
  settingsAck,
  Type,
  windowUpdate,
} from '../../../support/http2/frames.ts';
import { ScriptedPeer } from '../../../support/http2/peer.ts';
import { RecordedClient } from '../../../support/http2/recorded-client.ts';
import { socketPair } from '../../../support/http2/socket-pair.ts';

conversation('start-up: preface string and SETTINGS are sent at once', async ({ t, peer }) => {
  await peer.expectPreface();
  t.same(
    peer.clientSettings,
    settings([Id.ENABLE_PUSH, 0], [Id.MAX_HEADER_LIST_SIZE, 65_536]),
    'ENABLE_PUSH=0, and no HEADER_TABLE_SIZE below 4096',
  );
  t.same(peer.clientWindow, windowUpdate(0, 4 * 1_024 * 1_024 - 65_535));
});

conversation(
  'start-up: nothing is asked before the SETTINGS are in',
  async ({ t, peer, client }) => {
    await peer.expectPreface();
    t.equal(client.connection.isReady, false);
    t.equal(
      client.connection.capacity,
      0,
      'no request may go: for APNs the limit is not known yet',
    );
    peer.send(settings());
    await peer.expect(settingsAck);
    t.equal(client.connection.isReady, true);
    const sent = await client.request();
    const { streamId, fields, content } = await peer.expectRequest();
    t.same(fields, [
      [':method', 'POST'],
      [':scheme', 'https'],
      [':authority', 'push.test'],
      [':path', '/3/device/abc'],
    ]);
    t.equal(content, '{"aps":{}}');
    peer.send(headers(streamId, [[':status', '200']], END_STREAM));
    t.match(await sent.end, { kind: 'answered', status: 200, body: '' });
  },
);

const NOT_SETTINGS = [
  frame(Type.SETTINGS, ACK, 0),
  ping('01234567'),
  goAway(0, Code.NO_ERROR),
  windowUpdate(0, 1),
  headers(1, [[':status', '200']]),
  frame(0xfa, 0, 0, 'unknown'),
];
for (const first of NOT_SETTINGS) {
  conversation(
    `start-up: first server frame must be SETTINGS, not type ${first.type} with flags ${first.flags}`,
    async ({ peer }) => {
      await peer.expectPreface();
      peer.send(first);
      await peer.expectGoAway(Code.PROTOCOL_ERROR);
    },
  );
}

conversation('start-up: a server that speaks HTTP/1.1 is refused', async ({ peer, client, t }) => {
  await peer.expectPreface();
  peer.send(Buffer.from('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'));
  await peer.expectGoAway(Code.FRAME_SIZE_ERROR);
  t.match(await client.closed(), /FRAME_SIZE_ERROR/);
});

void t.test('start-up: the preface precedes the answer to a peer that spoke first', async () => {
  const [ours, theirs] = socketPair();
  const peer = new ScriptedPeer(theirs, { kind: 'whole' });
  // A server's SETTINGS come with the end of its handshake: they wait in the socket's buffer.
  peer.send(settings(), ping('early 00'));
  ours.read(0);
  await new Promise((resolve) => setImmediate(resolve));
  const client = new RecordedClient(ours, {});
  await peer.expectPreface();
  await peer.expect(pingAck('early 00'));
  await peer.expect(settingsAck);
  client.finish();
});
