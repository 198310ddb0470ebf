/** How a stream reaches its server: address, credential, and why a handshake is refused. Rule J1 (api/RULES.md). */
import { addressAt, refusalOf } from './errors.ts';
import type { LinkOptions } from './stream-link.ts';
import type { StreamOptions, StreamSocketClass } from './stream-types.ts';

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HEARTBEAT_MS = 5000;
const FIRST_PAUSE_MS = 250;
const WEBSOCKET_MISSING =
  'there is no WebSocket here: Node has one from version 22 on. Use that, install the package ws ' +
  'beside the client, or pass a class as the option WebSocket';

/** The answer to a handshake that is no WebSocket's: all checks before have passed. */
const NO_WEBSOCKET = 400;

type Server = {
  baseUrl: string;
  credential: string | (() => string | Promise<string>) | undefined;
  timeoutMs: number;
};
type Headers = Record<string, string> | null;
type Parts = Omit<LinkOptions, 'onState' | 'onMessage' | 'onTick'>;

/** Throws `TypeError` for an option that cannot be. */
export function streamParts(
  { baseUrl, credential, timeoutMs }: Server,
  options: StreamOptions,
): StreamOptions & Parts & { timeoutMs: number } {
  const { organization, WebSocket: given = globalThis.WebSocket ?? classOfPackage() } = options;
  if (organization !== undefined && !ID.test(organization)) {
    throw new TypeError('organization must be the id of an organization');
  }
  if (given === undefined) throw new TypeError(WEBSOCKET_MISSING);
  // Of a page, a path alone is enough.
  const page = (globalThis as { location?: { href: string } }).location?.href;
  const address = new URL(`${baseUrl.replace(/\/$/, '')}/stream`, page);
  return {
    ...options,
    urlAt: (node) => {
      if (node === null) return socketUrl(address);
      // The cookie of a page is for its own origin.
      const there = credential === undefined ? null : addressAt(node, address);
      return there === null ? null : socketUrl(there);
    },
    socketClass: given as StreamSocketClass,
    headers: async () => {
      const token = typeof credential === 'function' ? await credential() : credential;
      if (token === undefined && organization === undefined) return null;
      return {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(organization === undefined ? {} : { 'x-service-org': organization }),
      };
    },
    refusal: (url, headers) => refusalOfHandshake(url.replace(/^ws/, 'http'), headers, timeoutMs),
    isRenewed: typeof credential !== 'string',
    timeoutMs,
    heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
    firstPauseMs: options.firstPauseMs ?? FIRST_PAUSE_MS,
  };
}

function socketUrl(address: URL): string {
  return address.href.replace(/^http/, 'ws');
}

type Builtin = { createRequire(from: string): (name: string) => unknown };
type OfNode = { process?: { getBuiltinModule?(name: string): Builtin } };

/**
 * The class of the package `ws`, where it is installed beside the client; undefined elsewhere. No
 * bundler sees an import here, so a page needs no such package. Rule U29 (api/RULES.md).
 */
function classOfPackage(): StreamSocketClass | undefined {
  const load = (globalThis as OfNode).process?.getBuiltinModule?.('node:module');
  try {
    return load?.createRequire(import.meta.url)('ws') as StreamSocketClass | undefined;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** A WebSocket does not say why its handshake failed; the same request without one is answered. */
async function refusalOfHandshake(
  url: string,
  headers: Headers,
  timeoutMs: number,
): Promise<Error | null> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { headers: headers ?? {}, redirect: 'error', signal });
    const { status, statusText } = response;
    if (status === NO_WEBSOCKET) return new Error('the handshake was refused');
    return refusalOf(status, statusText, await response.json().catch(() => null));
  } catch {
    return null;
  }
}
