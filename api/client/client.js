import { createClient as createGenerated, OPERATIONS } from './generated.js';
/** The server refused: branch on `code`, show `message`. */
export class RefusedError extends Error {
    status;
    code;
    /** How long to wait; null where waiting is not what helps. */
    retryAfterSeconds;
    constructor(status, code, message, retryAfterSeconds) {
        super(message);
        this.name = 'RefusedError';
        this.status = status;
        this.code = code;
        this.retryAfterSeconds = retryAfterSeconds;
    }
}
/** Longer than this nobody waits for a server that says when to come back. */
const RETRY_AFTER_SECONDS_MAX = 10;
const ANSWERS_WITHIN_MS = 30_000;
const FIRST_RETRY_MS = 250;
/**
 * One method an operation of the description: `client.placeOrder({ body })`. Each answers the JSON
 * of a success, throws `RefusedError` for a refusal, and what `fetch` throws without an answer.
 */
export function createClient({ baseUrl, credential, retries = 0, timeoutMs }) {
    return createGenerated(OPERATIONS, {
        serverUrl: baseUrl,
        ...(credential === undefined ? {} : { auth: { bearer: credential } }),
        clientHeader: false,
        timeout: timeoutMs ?? ANSWERS_WITHIN_MS,
        retry: { retries, retryDelay: FIRST_RETRY_MS, retryOn: mayRetry },
        // A server of this API redirects nobody, so a redirect would only carry secrets elsewhere.
        fetch: (url, init) => fetch(url, { ...init, redirect: 'error' }),
        onError: ({ status, statusText, body }) => refusalOf(status, statusText, body),
    });
}
/** A lost answer to anything else may have done what it was asked. */
const mayRetry = ({ request: { method, operation }, response }) => {
    if (method !== 'GET' && operation.id !== 'placeOrder')
        return false;
    if (response === undefined)
        return true;
    const waitSeconds = Number(response.headers.get('retry-after') ?? 0);
    return response.status === 503 && waitSeconds <= RETRY_AFTER_SECONDS_MAX;
};
/** The refusal of the server, or what stood between it and us. */
function refusalOf(status, statusText, body) {
    const { error } = (body ?? {});
    if (typeof error?.code !== 'string')
        return new Error(`HTTP ${status} ${statusText}`.trimEnd());
    const { code, message, retryAfterSeconds = null } = error;
    const waitSeconds = typeof retryAfterSeconds === 'number' ? retryAfterSeconds : null;
    return new RefusedError(status, code, String(message), waitSeconds);
}
