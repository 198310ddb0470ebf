/** The handshake of a WebSocket, and text messages of a client, as bytes. RFC 6455. */

const TEXT = 0x81;
/** The first byte of the server's pings. */
export const PING = 0x89;
export const FRAME_MASK = 0x80;
const TWO_BYTES = 126;

/** @param credential a line of the head, or several, which say who it is */
export function handshake(port: number, path: string, credential: string): string {
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    credential,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** The credential of a key. */
export const bearer = (key: string) => `Authorization: Bearer ${key}`;

export const PONG = Buffer.from([0x8a, FRAME_MASK, 0, 0, 0, 0]);

/** A message of less than 64 KiB; its mask is zero, which changes nothing. */
export function maskedText(text: string): Buffer {
  const body = Buffer.from(text);
  const isShort = body.length < TWO_BYTES;
  const head = Buffer.alloc(isShort ? 6 : 8);
  head[0] = TEXT;
  head[1] = FRAME_MASK | (isShort ? body.length : TWO_BYTES);
  if (!isShort) head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}
