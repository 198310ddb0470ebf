/** Why a call brought no answer: in a sentence, with the id of its request. */
import type { ErrorCode } from '../../client/generated.js';

export class CallError extends Error {
  /** Null: no answer came. */
  readonly status: number | null;
  /** The API's code, or one of GoTrue's where signing in is refused; null without an answer. */
  readonly code: ErrorCode | string | null;
  /** The id in the server's log. */
  readonly requestId: string;
  /** Null if waiting does not help. */
  readonly retryAfterSeconds: number | null;

  constructor(
    sentence: string,
    details: Pick<CallError, 'status' | 'code' | 'requestId' | 'retryAfterSeconds'>,
  ) {
    super(sentence);
    this.name = 'CallError';
    this.status = details.status;
    this.code = details.code;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** Whether the server did not answer, and may do so once it is back. */
export function isOfAbsence(error: unknown): boolean {
  return error instanceof CallError && (error.status === null || error.status >= 500);
}

/** A proxy's answer has no body of ours. */
export function refusedCall(status: number, body: unknown, requestId: string): CallError {
  const found = (body ?? {}) as {
    error?: { code?: unknown; message?: unknown; retryAfterSeconds?: unknown };
    error_code?: unknown;
    msg?: unknown;
  };
  const code = found.error?.code ?? found.error_code;
  const message = found.error?.message ?? found.msg;
  const wait = found.error?.retryAfterSeconds;
  return new CallError(
    typeof message === 'string'
      ? sentenceOf(message)
      : `The server answered with status ${status}.`,
    {
      status,
      code: typeof code === 'string' ? code : null,
      requestId,
      retryAfterSeconds: typeof wait === 'number' ? wait : null,
    },
  );
}

/** A call without an answer. */
export function unansweredCall(error: unknown, requestId: string): CallError {
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const sentence = isLate
    ? 'The server did not answer in time.'
    : 'The server could not be reached.';
  return new CallError(sentence, {
    status: null,
    code: null,
    requestId,
    retryAfterSeconds: null,
  });
}

/** With a capital at the beginning and a full stop at the end. */
function sentenceOf(message: string): string {
  const begun = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
