/**
 * A relay between a client of the stream and a server: it can lose messages, fall silent, and cut
 * connections. Its own heartbeats are quick ones.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { WebSocketServer, WebSocket as WsSocket } from 'ws';
import type { Json } from './support.ts';

/** How often the relay sends a heartbeat. */
export const HEARTBEAT_MS = 100;

export type Relay = {
  /** The port of the server: another one after it was started again. */
  port: number;
  /** In place of the server's. */
  baseUrl: string;
  /** Messages of the server to lose. */
  loses: (message: Json) => boolean;
  /** Existing connections send nothing more to clients. */
  fallSilent(): void;
  /** Ends all connections, without a close frame. */
  cut(): void;
  /** New connections are cut at once. */
  isDown: boolean;
  /** The messages of clients. */
  sent: Json[];
  /** Handshakes so far. */
  connections: number;
};

export async function startRelay(t: ExecutionContext, port: number): Promise<Relay> {
  const http = createServer(async (request, response) => {
    const headers = request.headers as Record<string, string>;
    const answer = await fetch(`http://127.0.0.1:${relay.port}${request.url}`, {
      headers: { authorization: headers.authorization ?? '' },
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(await answer.text());
  });
  const sockets = new WebSocketServer({ server: http });
  const ends = new Set<() => void>();
  const silent = new Set<WsSocket>();
  const relay: Relay = {
    port,
    baseUrl: '',
    loses: () => false,
    fallSilent: () => sockets.clients.forEach((client) => void silent.add(client)),
    cut: () => ends.forEach((end) => void end()),
    isDown: false,
    sent: [],
    connections: 0,
  };
  sockets.on('connection', (client, { url, headers: { authorization } }) => {
    relay.connections++;
    if (relay.isDown) return client.terminate();
    const upstream = new WsSocket(`ws://127.0.0.1:${relay.port}${url}`, {
      headers: { authorization },
    });
    const send = (text: string) => {
      if (!silent.has(client) && !relay.loses(JSON.parse(text))) client.send(text);
    };
    const heartbeats = setInterval(() => {
      send(JSON.stringify({ heartbeat: { at: new Date().toISOString(), seq: {} } }));
    }, HEARTBEAT_MS);
    const end = () => {
      clearInterval(heartbeats);
      ends.delete(end);
      client.terminate();
      upstream.terminate();
    };
    ends.add(end);
    const early: string[] = [];
    client.on('message', (data) => {
      relay.sent.push(JSON.parse(String(data)));
      if (upstream.readyState === WsSocket.OPEN) upstream.send(String(data));
      else early.push(String(data));
    });
    upstream.on('open', () => early.forEach((text) => void upstream.send(text)));
    upstream.on('message', (data) => send(String(data)));
    client.on('close', end).on('error', end);
    upstream.on('error', end).on('close', (code, reason) => {
      if (code < 4000) return end();
      clearInterval(heartbeats);
      client.close(code, reason);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    relay.cut();
    http.closeAllConnections();
    http.close();
  });
  relay.baseUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`;
  return relay;
}
