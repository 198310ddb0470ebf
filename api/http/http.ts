/**
 * Listeners of uWebSockets.js: their options are here, a single request is in http-context.ts. Rules
 * J1, J38 (api/RULES.md).
 */
import * as uws from 'uWebSockets.js';
import { type Held, HttpContext, type HttpContextOptions, newHeld } from './http-context.ts';
import { listenError } from './listen-error.ts';
import { type RelayedHead, RelayedRequest, type RelayedResponse } from './relayed-request.ts';
import { RequestTurns } from './request-turns.ts';
import type { Upgraded } from './socket.ts';

type Tls = { certFile: string; keyFile: string };

export type ListenOptions = HttpContextOptions & {
  host: string;
  /** 0 takes a free port. */
  port: number;
  tls: Tls | null;
  /** Whether listeners of other threads share the port. The system divides the connections. */
  sharing?: 'first' | 'further';
  /** Where WebSockets are opened. */
  socketPaths: readonly string[];
  /** Called once per request. Must answer, hold or read the body before it returns. */
  handle(http: HttpContext): void;
};

export type Listener = {
  port: number;
  /** Sends a message to every socket that follows the topic. */
  publish(topic: string, message: string | Uint8Array, isBinary: boolean): void;
  /** Serves a request that another thread has received. */
  serve(response: RelayedResponse, head: RelayedHead): void;
  /** Stops accepting, waits up to `graceMs` for held answers, then closes every connection. */
  close(graceMs: number): Promise<void>;
};

/** Opens a listener. Rejects with `ListenError` when the address cannot be bound. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const app = createApp(options.tls);
  const held = newHeld();
  const turns = new RequestTurns();
  for (const path of options.socketPaths) openSockets(app, path, options, held);
  app.any('/*', (res, req) => {
    const http = new HttpContext(res, req, options, held);
    serve(http, options.handle, turns);
  });
  const open = (port: number, flags: number) =>
    new Promise<uws.us_listen_socket>((resolve, reject) => {
      (app as unknown as ExclusiveApp).listen(options.host, port, flags, (socket) => {
        if (socket !== false) resolve(socket);
        else listenError(options.host, port).then(reject);
      });
    });
  const socket = await openedBy(open, options);
  return {
    port: uws.us_socket_local_port(socket),
    publish: (topic, message, isBinary) => void app.publish(topic, message, isBinary),
    serve: (response, head) => {
      const [res, req] = [response, new RelayedRequest(head)] as unknown as Relayed;
      if (!head.isHandshake) {
        serve(new HttpContext(res, req, options, held), options.handle, turns);
        return;
      }
      // Its response needs no context of a socket.
      const http = new HttpContext(res, req, options, held, {} as uws.us_socket_context_t);
      options.handle(http);
      http.leaveHandler();
    },
    close: (graceMs) => close(app, socket, held, graceMs),
  };
}

type Relayed = [uws.HttpResponse, uws.HttpRequest];

/** Without the first flag a second server could share the port unnoticed (SO_REUSEPORT). */
const EXCLUSIVE = 1;
const SHARED = 0;

/** A port that is to be shared is first taken alone, so that no other server has it. */
async function openedBy(
  open: (port: number, flags: number) => Promise<uws.us_listen_socket>,
  { port, sharing }: ListenOptions,
): Promise<uws.us_listen_socket> {
  if (sharing === 'further') return open(port, SHARED);
  const alone = await open(port, EXCLUSIVE);
  if (sharing === undefined) return alone;
  const taken = uws.us_socket_local_port(alone);
  uws.us_listen_socket_close(alone);
  return open(taken, SHARED);
}

function serve(http: HttpContext, handle: ListenOptions['handle'], turns: RequestTurns): void {
  http.serve(turns, () => {
    handle(http);
    http.leaveHandler();
  });
}

/** The largest message: as large as the body of a request. Rule J38 (api/RULES.md). */
const MESSAGE_BYTES_MAX = 64 * 1024;
/** A longer message could fill the memory. It is not read, and the socket is cut. */
const READ_BYTES_MAX = 2 ** 20;
const TOO_BIG = 1009;
/** Beyond this, a message to a client that does not read is dropped. */
const UNREAD_BYTES_MAX = 2 ** 20;
/** Pings are sent within this time; a client that answers nothing is disconnected. */
const SILENT_SECONDS_MAX = 60;

/** A handshake is a request like any other, and may be accepted. Rule J1 (api/RULES.md). */
function openSockets(
  app: uws.TemplatedApp,
  path: string,
  options: ListenOptions,
  held: Held,
): void {
  app.ws<Upgraded>(path, {
    maxPayloadLength: READ_BYTES_MAX,
    maxBackpressure: UNREAD_BYTES_MAX,
    idleTimeout: SILENT_SECONDS_MAX,
    sendPingsAutomatically: true,
    upgrade: (res, req, context) => {
      const http = new HttpContext(res, req, options, held, context);
      // Accepted within its turn it needs no cork, which could close it; a connection has one.
      options.handle(http);
      http.leaveHandler();
    },
    open: (socket) => socket.getUserData().opening.opened(socket),
    message: (socket, bytes, isBinary) => {
      if (bytes.byteLength > MESSAGE_BYTES_MAX) {
        socket.end(TOO_BIG, `a message has at most ${MESSAGE_BYTES_MAX} bytes`);
      } else socket.getUserData().opening.message(bytes, isBinary);
    },
    ping: (socket) => socket.getUserData().opening.alive(),
    pong: (socket) => socket.getUserData().opening.alive(),
    dropped: (socket) => socket.getUserData().opening.dropped(),
    drain: (socket) => socket.getUserData().opening.drained(),
    close: (socket) => socket.getUserData().opening.closed(),
  });
}

/** An overload of the binary that its type declarations lack. */
type ExclusiveApp = {
  listen(
    host: string,
    port: number,
    flags: number,
    done: (socket: uws.us_listen_socket | false) => void,
  ): void;
};

function createApp(tls: Tls | null): uws.TemplatedApp {
  if (tls === null) return uws.App();
  try {
    return uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
  } catch {
    throw new Error(`cannot use the TLS files ${tls.certFile} and ${tls.keyFile}`);
  }
}

async function close(
  app: uws.TemplatedApp,
  socket: uws.us_listen_socket,
  held: Held,
  graceMs: number,
): Promise<void> {
  uws.us_listen_socket_close(socket);
  if (held.count > 0) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, graceMs);
      held.whenNone = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
  app.close();
}
