/**
 * A typed client of the API, for programs and for the `paperbook` commands. Types and calls are
 * generated from the API's own description (`npm run client`); this is how they are set up.
 */
import { addressAt, ConnectionLostError, RefusedError, refusalOf } from './errors.js';
import { createClient as createGenerated, OPERATIONS } from './generated.js';
import { Stream } from './stream.js';
import { streamParts } from './stream-parts.js';
export { ConnectionLostError, RefusedError };
/** Never waits longer than this, even if the server asks for more. */
const RETRY_AFTER_SECONDS_MAX = 10;
const ANSWERS_WITHIN_MS = 30_000;
const FIRST_RETRY_MS = 250;
/** The list in each page of a paged call. */
export const ROWS = {
    listInstruments: 'instruments',
    listGames: 'games',
    getHistory: 'quotes',
    getCandles: 'candles',
    listTrades: 'trades',
    listOrders: 'orders',
    listEvents: 'events',
    getLeaderboard: 'rows',
    listPicks: 'picks',
    getEval: 'rows',
};
/**
 * One method per operation of the description: `client.placeOrder({ body })`. Each returns the JSON
 * of a success, throws `RefusedError` for a refusal, and the error of `fetch` without an answer.
 * `client.stream()` opens the stream.
 */
export function createClient({ baseUrl, credential, retries = 0, timeoutMs, }) {
    const timeout = timeoutMs ?? ANSWERS_WITHIN_MS;
    const calls = createGenerated(OPERATIONS, {
        serverUrl: baseUrl,
        ...(credential === undefined ? {} : { auth: { bearer: credential } }),
        clientHeader: false,
        timeout,
        retry: { retries, retryDelay: FIRST_RETRY_MS, retryOn: mayRetry },
        // The cookie of a page is for its own origin.
        fetch: credential === undefined ? fetchThere : fetchAtLeader,
        onError: ({ status, statusText, body }) => refusalOf(status, statusText, body),
    });
    const stream = (options = {}) => {
        return new Stream(streamParts({ baseUrl, credential, timeoutMs: timeout }, options));
    };
    return Object.assign(calls, iteratorsOf(calls), { stream });
}
/** No server of this API redirects, so a redirect would only send secrets elsewhere. */
const fetchThere = (url, init) => fetch(url, { ...init, redirect: 'error' });
/**
 * If the answer names the node of a cluster that takes the call, asks that node in its place, once.
 * Such a refusal says that nothing was done. Rule U91 (api/RULES.md).
 */
const fetchAtLeader = async (url, init) => {
    const response = await fetchThere(url, init);
    const { status, statusText } = response;
    if (status !== 503)
        return response;
    const refusal = refusalOf(status, statusText, await response
        .clone()
        .json()
        .catch(() => null));
    const leader = refusal instanceof RefusedError ? refusal.leader : null;
    const there = leader === null ? null : addressAt(leader, new URL(response.url));
    if (there === null)
        return response;
    await response.body?.cancel();
    return await fetchThere(there.href, init);
};
function iteratorsOf(calls) {
    const named = Object.entries(ROWS).map(([name, field]) => {
        const call = calls[name];
        const iterator = (input = {}, init) => rowsOf(call, field, input, init);
        return [name.replace(/^(list|get)/, 'iter'), iterator];
    });
    return Object.fromEntries(named);
}
async function* rowsOf(call, field, input, init) {
    // Events have no last page: at the end the place stays the same.
    const place = field === 'events' ? 'after' : 'cursor';
    let query = input.query ?? {};
    while (true) {
        const { [field]: rows, nextCursor, nextAfter } = await call({ ...input, query }, init);
        yield* rows;
        const next = nextCursor ?? nextAfter ?? null;
        if (next === null || next === query[place])
            return;
        query = { ...query, [place]: next };
    }
}
/** The keys of their orders make sure that each is placed once. */
const REPEATABLE = new Set(['placeOrder', 'placeOrders']);
/** Any other call may have taken effect although its answer was lost. */
const mayRetry = ({ request: { method, operation }, response }) => {
    if (method !== 'GET' && !REPEATABLE.has(operation.id))
        return false;
    if (response === undefined)
        return true;
    const waitSeconds = Number(response.headers.get('retry-after') ?? 0);
    return response.status === 503 && waitSeconds <= RETRY_AFTER_SECONDS_MAX;
};
/** The outcome of each order of a batch, in their order: its placement, or its refusal. */
export function outcomesOf({ results }) {
    return results.map(({ status, body }) => {
        if (!('error' in body))
            return body;
        const { code, message, retryAfterSeconds = null } = body.error;
        return new RefusedError(status, code, message, retryAfterSeconds);
    });
}
