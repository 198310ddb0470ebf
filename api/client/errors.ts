/** Why a call brought no answer, or a refusal. */
import type { ErrorCode } from './generated.js';

/** The server refused: branch on `code`, show `message`. */
export class RefusedError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  /** How long to wait; null if waiting does not help. */
  readonly retryAfterSeconds: number | null;
  /** Of `not_leader`: the address of the node that takes the request; null: none is known. */
  readonly leader: string | null;

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    retryAfterSeconds: number | null,
    leader: string | null = null,
  ) {
    super(message);
    this.leader = leader;
    this.name = 'RefusedError';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A message of a stream that was not answered. */
export class ConnectionLostError extends Error {
  /**
   * `not_sent`: the server never got it. `unknown`: it may have been done. An order is then sent
   * again under the same key, which places it once. A cancel can be sent again unchanged.
   */
  readonly outcome: 'not_sent' | 'unknown';
  /** Of an order. */
  readonly idempotencyKey: string | null;

  constructor(why: string, outcome: 'not_sent' | 'unknown', idempotencyKey: string | null) {
    super(outcome === 'unknown' ? `${why}: the outcome is unknown` : `${why}: nothing was sent`);
    this.name = 'ConnectionLostError';
    this.outcome = outcome;
    this.idempotencyKey = idempotencyKey;
  }
}

/** The server's refusal, or the failure of a proxy in between. */
export function refusalOf(status: number, statusText: string, body: unknown): Error {
  const { error } = (body ?? {}) as { error?: Record<string, unknown> };
  if (typeof error?.code !== 'string') return new Error(`HTTP ${status} ${statusText}`.trimEnd());
  const { code, message, retryAfterSeconds = null, leader: named = null } = error;
  const waitSeconds = typeof retryAfterSeconds === 'number' ? retryAfterSeconds : null;
  const leader = typeof named === 'string' ? named : null;
  return new RefusedError(status, code as ErrorCode, String(message), waitSeconds, leader);
}

/**
 * The same address at the node that a refusal names; null: it is no address for what is sent to `own`,
 * since a credential that was sent over TLS is not sent without. Rules U90, U91 (api/RULES.md).
 */
export function addressAt(node: string, own: URL): URL | null {
  if (!URL.canParse(node)) return null;
  const { protocol, host } = new URL(node);
  if (protocol !== 'https:' && (protocol !== own.protocol || protocol !== 'http:')) return null;
  return new URL(own.pathname + own.search, `${protocol}//${host}`);
}
