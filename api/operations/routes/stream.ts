/** The WebSocket of the API. Rule J1 (api/RULES.md). */
import { Type } from '@sinclair/typebox';
import { NoQuery } from '../../base/common-schemas.ts';
import { invalidRequest } from '../../base/errors.ts';
import type { Caller } from '../../dispatch/access.ts';
import { ofAccount, type Route } from '../../dispatch/route.ts';
import type { Streams } from '../../stream/streams.ts';

/** @param streams known once the server runs */
export function streamRoute(streams: () => Streams): Route<Caller> {
  return ofAccount({
    method: 'GET',
    path: '/stream',
    about: {
      operationId: 'openStream',
      tag: 'Stream',
      summary: 'A WebSocket: quotes, games, orders',
      description: DESCRIPTION,
    },
    status: 101,
    query: NoQuery,
    response: Type.Void(),
    run: ({ caller, organization, account, protocols }) => {
      if (protocols === null) {
        throw invalidRequest('GET /stream opens a WebSocket: send Upgrade: websocket');
      }
      return streams().open({ caller, organization, account }, protocols);
    },
  });
}

const DESCRIPTION = `The handshake carries the credential as every request does, never in the URL, and counts as
one request. The session cookie opens it only with the \`Origin\` of this server. Messages are JSON text; with the subprotocol \`msgpack\` both sides send the same messages as
msgpack. An account has at most 20 connections (429), a connection at most 200 channels. Each message counts
as one request. It has at most 64 KiB (else the connection is closed with 1009), 4096 values and 32 levels.

**To the server.** \`{"id"?, "op", …}\` is answered by \`{"id", "status", "body"}\`, errors too.

- \`{"op":"subscribe","channels":["quotes:ins_8QK2M4T7VWXA","games","orders"]}\`, \`unsubscribe\`, \`ping\`
- \`{"op":"place","order":{…},"organization"?}\`, \`{"op":"cancel","orderId":"…","organization"?}\` and
  \`{"op":"cancel_all","instrumentId"?,"organization"?}\` are answered as \`POST /portfolio/orders\`,
  \`DELETE /portfolio/orders/{orderId}\` and \`DELETE /portfolio/orders\`, and count as these do.
  Answers come in the order of completion.
- \`"cancelOnDisconnect":true\` in a \`subscribe\`, whose \`channels\` may then be empty: what is placed
  over the connection from then on is canceled (\`disconnected\`) when the connection ends, for whatever
  reason, and also when the server stops or crashes. It ends, too, when the client sends nothing from one
  heartbeat to the next but one: no message, no ping, and no pong to the ping that comes with each.

**From the server.** \`{"channel", "epoch", "seq", "at", "data"}\`. The first message of a channel has
\`"snapshot":true\`. \`seq\` counts up by one in each channel and is the same for every client; a new \`epoch\`
means that counting started again. \`data\` of \`quotes:\` is a Quote, and then merge patches (RFC 7396) of what
changed; it needs markets:read and the venue-data switch. \`data\` of \`games\` is first the page of
\`GET /games\`, and then each Game that changed; it needs markets:read. \`data\` of \`orders\` is first the
answer of \`GET /portfolio\`, and then each event as \`GET /portfolio/events\` has it; it needs
portfolio:read. With \`"after":{"orders":"<eventId>"}\` the events since then come in place of it. Every 5 seconds
\`{"heartbeat":{"at","seq":{"<channel>":n}}}\` has the last number of each channel.

A client that does not keep up gets \`{"channel","gap":true}\` and a new snapshot, and is closed with 4408
when it does not catch up. One whose messages come faster than they are handled is closed with 4429, and
its account connects again after 5 seconds. \`{"channel","ended":true,"error"}\` ends a channel. A key that ends closes its
connections with 4401; so does a session, or the access token that opened the connection.`;
