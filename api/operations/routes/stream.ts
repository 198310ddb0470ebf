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
    isPublic: true,
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
one request. The session cookie opens it only with the \`Origin\` of this server. Messages are JSON text.
With the subprotocol \`msgpack\` both sides send the same messages as msgpack. An account has at most 20
connections (429), a connection at most 200 channels. Each message counts as one request. It has at most
64 KiB (else the connection is closed with 1009), 4096 values and 32 levels.

**To the server.** \`{"id"?, "op", …}\` is answered by \`{"id", "status", "body"}\`, errors too.

- \`{"op":"subscribe","channels":["quotes:ins_8QK2M4T7VWXA","games","orders"]}\`, \`unsubscribe\`, \`ping\`
- \`{"op":"place","order":{…},"organization"?}\`, \`{"op":"cancel","orderId":"…","organization"?}\` and
  \`{"op":"cancel_all","instrumentId"?,"organization"?}\` are answered as \`POST /portfolio/orders\`,
  \`DELETE /portfolio/orders/{orderId}\` and \`DELETE /portfolio/orders\`. They count as these do.
  Answers come in the order of completion.
- \`"cancelOnDisconnect":true\` may be in a \`subscribe\`, whose \`channels\` may then be empty. If the
  connection then ends, for whatever reason, orders placed over it since are canceled (\`disconnected\`). They
  are canceled when the server stops or crashes, too. If the client sends nothing from one heartbeat to the
  next but one, the connection ends. A message, a ping, or a pong to the ping of each heartbeat is enough.

**From the server.** \`{"channel", "epoch", "seq", "at", "data"}\`. The first message of a channel has
\`"snapshot":true\`. \`seq\` counts up by one in each channel and is the same for every client. A new \`epoch\`
means that counting started again.

| channel | first \`data\` | then | needs |
| --- | --- | --- | --- |
| \`quotes:\` | a Quote | merge patches (RFC 7396) of what changed | markets:read, the venue-data switch |
| \`games\` | the page of \`GET /games\` | each Game that changed | markets:read |
| \`orders\` | the answer of \`GET /portfolio\` | each event as \`GET /portfolio/events\` has it | portfolio:read |

With \`"after":{"orders":"<eventId>"}\` the events since then come in place of the
portfolio. Every 5 seconds
\`{"heartbeat":{"at","seq":{"<channel>":n}}}\` has the last number of each channel.

If a client does not keep up, it gets \`{"channel","gap":true}\` and a new snapshot. If it does not catch up,
it is closed with 4408. If a client's messages come faster than they are handled, it is closed with 4429. Its
account connects again after 5 seconds. \`{"channel","ended":true,"error"}\` ends a channel. When a key ends,
its connections are closed with 4401. The end of a session, or of the access token that opened the connection,
closes it in the same way.`;
