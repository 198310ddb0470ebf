/** Answers in the bytes of the wire. */
import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Api } from './support.ts';

export const DECODE = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (bytes: Buffer) => bytes,
};

/** The bytes of the wire, unchanged: fetch would decode them. */
export async function wireOf(api: Api, path: string, accepted: string | null, method = 'GET') {
  const headers = accepted === null ? {} : { 'accept-encoding': accepted };
  const request = send(new URL(path, api.baseUrl), { method, headers }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { headers: response.headers, bytes: Buffer.concat(chunks) };
}
