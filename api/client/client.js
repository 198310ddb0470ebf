import { createClient as createGenerated, OPERATIONS } from './generated.js';
/** The server refused: branch on `code`, show `message`. */
export class RefusedError extends Error {
    status;
    code;
    /** How long to wait; null where waiting does not help. */
    retryAfterSeconds;
    constructor(status, code, message, retryAfterSeconds) {
        super(message);
        this.name = 'RefusedError';
        this.status = status;
        this.code = code;
        this.retryAfterSeconds = retryAfterSeconds;
    }
}
/** Never waits longer than this, even if the server asks for more. */
const RETRY_AFTER_SECONDS_MAX = 10;
const ANSWERS_WITHIN_MS = 30_000;
const FIRST_RETRY_MS = 250;
/**
 * One method per operation of the description: `client.placeOrder({ body })`. Each returns the JSON
 * of a success, throws `RefusedError` for a refusal, and the error of `fetch` without an answer.
 */
export function createClient({ baseUrl, credential, retries = 0, timeoutMs }) {
    return createGenerated(OPERATIONS, {
        serverUrl: baseUrl,
        ...(credential === undefined ? {} : { auth: { bearer: credential } }),
        clientHeader: false,
        timeout: timeoutMs ?? ANSWERS_WITHIN_MS,
        retry: { retries, retryDelay: FIRST_RETRY_MS, retryOn: mayRetry },
        // No server of this API redirects, so a redirect would only send secrets elsewhere.
        fetch: (url, init) => fetch(url, { ...init, redirect: 'error' }),
        onError: ({ status, statusText, body }) => refusalOf(status, statusText, body),
    });
}
/** Anything else may have taken effect although its answer was lost. */
const mayRetry = ({ request: { method, operation }, response }) => {
    if (method !== 'GET' && operation.id !== 'placeOrder')
        return false;
    if (response === undefined)
        return true;
    const waitSeconds = Number(response.headers.get('retry-after') ?? 0);
    return response.status === 503 && waitSeconds <= RETRY_AFTER_SECONDS_MAX;
};
/** The server's refusal, or the failure of a proxy in between. */
function refusalOf(status, statusText, body) {
    const { error } = (body ?? {});
    if (typeof error?.code !== 'string')
        return new Error(`HTTP ${status} ${statusText}`.trimEnd());
    const { code, message, retryAfterSeconds = null } = error;
    const waitSeconds = typeof retryAfterSeconds === 'number' ? retryAfterSeconds : null;
    return new RefusedError(status, code, String(message), waitSeconds);
}
