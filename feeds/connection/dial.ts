/** A venue's WebSocket, and its events while it is the current one. Rule W5 (feeds/FORMATS.md). */
import { WebSocket } from 'ws';

/** Far above any venue's messages. A larger one ends the connection. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;

export type SocketEvents = {
  /** Events of a socket that was replaced or dropped are ignored; its listeners stay attached. */
  isCurrent(socket: WebSocket): boolean;
  opened(): void;
  received(text: string): void;
  pinged(): void;
  ponged(payload: string): void;
  ended(reason: string): void;
};

export function dial(url: URL, headers: Record<string, string>, events: SocketEvents): WebSocket {
  const socket = new WebSocket(url, {
    headers,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
  });
  const current = (run: () => void) => {
    if (events.isCurrent(socket)) run();
  };
  socket.on('open', () => current(() => events.opened()));
  socket.on('message', (data) => current(() => events.received(String(data))));
  // The library answers a ping by itself. Rule W21 (feeds/FORMATS.md).
  socket.on('ping', () => current(() => events.pinged()));
  socket.on('pong', (data) => current(() => events.ponged(String(data))));
  socket.on('error', (error) => current(() => events.ended(error.message)));
  socket.on('close', (code) => current(() => events.ended(`closed by the venue (${code})`)));
  return socket;
}

/** `PONG` and the like: a bare word. Frames are JSON and begin with a bracket or a brace. */
export function isKeepaliveAnswer(text: string): boolean {
  return /^[A-Za-z]{1,16}$/.test(text);
}

/** Of an error, without its message, which could contain key material. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
