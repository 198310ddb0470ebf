/** The refusal for each failure. Rules E1, E6 (api/RULES.md). */
import type { TradeLimitsLeft } from '../../engine/rules/limits-left.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import { NotLeader, type Unavailable } from '../../engine/threads/unavailable.ts';
import { ApiError, ERRORS, Refusal } from '../base/errors.ts';
import type { Log } from '../base/logger.ts';

export type Refused = Pick<
  Refusal,
  'status' | 'code' | 'message' | 'retryAfterSeconds' | 'headers'
> & { limits?: TradeLimitsLeft | undefined; leader?: string | null | undefined };

type EngineRefusal = Extract<Reply, { ok: false }>;

export const BUSY_STATUS = 503;

/** A refusal by a rule of the engine; no Error is made, since refusals can be many. */
export function refusedBy({ code, message, retryAfterSeconds, limits }: EngineRefusal): Refused {
  const { status } = ERRORS[code];
  const seconds = retryAfterSeconds ?? null;
  return { status, code, message, retryAfterSeconds: seconds, headers: [], limits };
}

/** The refusal in an error. A fault of ours is logged with `request`, and answered as one. */
export function refusalOf(
  error: unknown,
  request: { method: string; path: string; requestId: string | null },
  log: Log,
): Refusal {
  if (error instanceof Refusal) return error;
  const { method, path, requestId } = request;
  log.error({ err: error, method, path, requestId }, 'request failed');
  return new ApiError('internal_error');
}

export function busyRefusal(error: Unavailable): Refusal {
  const retryAfterSeconds = Math.max(1, Math.ceil(error.retryAfterSeconds));
  if (error instanceof NotLeader) {
    const { leader } = error;
    const message =
      leader === null
        ? 'No node of the cluster takes this request now. Send it again.'
        : `Another node of the cluster takes this request: ${leader}.`;
    return new ApiError('not_leader', { message, retryAfterSeconds, leader });
  }
  return new ApiError('internal_error', {
    status: BUSY_STATUS,
    message:
      `The engine cannot take this request now (${error.message}). ` +
      'Send it again, with the same idempotencyKey.',
    retryAfterSeconds,
  });
}
