/**
 * The part of a response of uWebSockets.js that files other than http-context.ts write answers to.
 */
export type HttpResponse = {
  cork(write: () => void): unknown;
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string): unknown;
  /** False: the socket has reached the bound of unsent bytes. */
  write(piece: Uint8Array | string): boolean;
  onWritable(ready: () => boolean): unknown;
  /** Whether the socket has taken it, and whether that was all. */
  tryEnd(body: Uint8Array | string, totalBytes: number): [boolean, boolean];
  end(): unknown;
};
