/** Answers as they come over the wire. */
import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Api } from './support.ts';

export const DECODE = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (bytes: Buffer) => bytes,
};

/** What comes over the wire, as it is: fetch would decode it. */
export async function wireOf(api: Api, path: string, accepted: string | null, method = 'GET') {
  const headers = accepted === null ? {} : { 'accept-encoding': accepted };
  const request = send(new URL(path, api.baseUrl), { method, headers }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { headers: response.headers, bytes: Buffer.concat(chunks) };
}
