/** A response of uWebSockets.js, as far as answers are written to it outside http-context.ts. */
export type HttpResponse = {
  cork(write: () => void): unknown;
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string): unknown;
  /** False: the socket has taken no more than it could send. */
  write(piece: Uint8Array | string): boolean;
  onWritable(ready: () => boolean): unknown;
  /** Whether the socket has taken it, and whether that was all. */
  tryEnd(body: Uint8Array | string, totalBytes: number): [boolean, boolean];
  end(): unknown;
};
