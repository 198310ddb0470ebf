/**
 * A service that runs backtests in place of this server. The body goes there unchanged, and its
 * JSON is returned unchanged, with a mode if an object has none. Rule Z14 (engine/RULES.md).
 */

import { type ApiError, invalidRequest } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ForwardedBacktest } from './backtest-source.ts';
import { ANSWER_BYTES_MAX, bytesOf, errorOf, Forwarding, jsonOf, Unusable } from './forwarding.ts';

type Options = {
  url: string;
  log: Log;
  /** Smaller in tests. */
  withinMs?: number;
};

/** A backtest takes longer than a look-up. */
const WITHIN_MS = 60_000;
const OPEN_MAX = 10;
/** Refusals that are about the body. */
const OF_THE_BODY = [400, 413, 422];

export function forwardedBacktest({ url, log, withinMs = WITHIN_MS }: Options): ForwardedBacktest {
  const name = 'backtest';
  const to = new Forwarding({ name, url, token: null, withinMs, openMax: OPEN_MAX, log });
  const { pathname, search } = new URL(url);
  return {
    kind: 'forwarded',
    run: (body) =>
      to.bounded(async (timer) => {
        const asked = { method: 'POST', path: pathname + search, body } as const;
        const answer = await to.send(asked, timer.signal);
        const { statusCode = 0 } = answer;
        if (statusCode < 200 || statusCode >= 300) {
          throw refusalFor(statusCode, (await errorOf(answer)).message);
        }
        const bytes = withMode(await bytesOf(answer, ANSWER_BYTES_MAX));
        timer.stop();
        return bytes;
      }),
  };
}

function withMode(bytes: Buffer): Uint8Array {
  const value = jsonOf(bytes);
  if (typeof value !== 'object' || value === null) return bytes;
  if (Array.isArray(value) || 'mode' in value) return bytes;
  return Buffer.from(JSON.stringify({ ...value, mode: 'paper' }));
}

function refusalFor(status: number, message: string | null): ApiError {
  if (!OF_THE_BODY.includes(status)) throw new Unusable(`it answered ${status}`);
  return invalidRequest(message ?? 'The backtest service refused the body.');
}
