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
export async function listenError(host: string, port: number): Promise<ListenError> {
  return new ListenError(host, port, (await probe(host, port)) ?? '');
}

/** Rejects with `ListenError` if a server could not listen there now. */
export async function checkAddress(host: string, port: number): Promise<void> {
  const code = await probe(host, port);
  if (code !== null) throw new ListenError(host, port, code);
}

/** Listens for a moment. Null: it can. */
function probe(host: string, port: number): Promise<string | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
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
