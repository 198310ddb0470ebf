/**
 * Explains why the server cannot listen on an address, and which setting an operator can change.
 * Rule G8 (api/RULES.md).
 */
import { createServer } from 'node:net';

/** The message names the address and the system's error code; `code` is empty if unknown. */
export class ListenError extends Error {
  readonly host: string;
  readonly port: number;
  readonly code: string;

  constructor(host: string, port: number, code: string) {
    super(`cannot listen on ${host} port ${port}${code === '' ? '' : ` (${code})`}`);
    this.name = 'ListenError';
    this.host = host;
    this.port = port;
    this.code = code;
  }
}

/** uWebSockets.js gives no reason for a failure. Node tries the same and gives one. */
export function listenError(host: string, port: number): Promise<ListenError> {
  const probe = createServer();
  return new Promise((resolve) => {
    const answer = (code: string) => resolve(new ListenError(host, port, code));
    probe.once('error', ({ code }: NodeJS.ErrnoException) => answer(code ?? ''));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => answer('')));
  });
}

/** The error, naming the variables that set the address; other errors unchanged. */
export function namingVariables(
  error: unknown,
  { host, port }: { host: string | null; port: string },
): unknown {
  if (!(error instanceof ListenError)) return error;
  if (error.code === 'EADDRINUSE') {
    return new Error(
      `${port} ${error.port} is in use on ${error.host}: set another, or 0 for a free one`,
    );
  }
  if (error.code === 'EACCES') {
    return new Error(`${port} ${error.port} is not for this user (EACCES): set one above 1023`);
  }
  if (host !== null && /^(EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|EINVAL)$/.test(error.code)) {
    return new Error(`${host} ${error.host} is no address of this machine (${error.code})`);
  }
  return new Error(`${error.message}: see ${host === null ? port : `${host} and ${port}`}`);
}
