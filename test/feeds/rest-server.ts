/**
 * A venue's REST API on loopback: each request gets the next of these replies, or `last` forever.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

export type Reply = (url: URL, response: ServerResponse, request: IncomingMessage) => void;

export type RestServer = { url: string; asked: string[] };

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Reply =>
  (_url, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** Ends with the test. `reply` answers each request, by its own count of requests. */
export async function restServer(
  t: ExecutionContext,
  reply: (url: URL, count: number) => Reply,
): Promise<RestServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://venue');
    asked.push(`${url.pathname}${url.search}`);
    reply(url, asked.length)(url, response, request);
  });
  // No idle connection ends just as a busy machine asks over it again.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}
