/**
 * The connection of a stream: opened, watched, and opened again after a pause, also at another node of
 * a cluster. Rules J1, J8, J15, J17 and U90 (api/RULES.md).
 */
import { RefusedError } from './errors.js';
const OPENS_WITHIN_MS = 10_000;
/** So many heartbeats may be missing. */
const HEARTBEATS_MISSED = 2;
const PAUSE_MS_MAX = 30_000;
const WAIT_SECONDS_MAX = 60;
/** Of bytes that the socket has not sent yet. */
const UNSENT_MAX = 2 ** 20;
const KEY_ENDED = 4401;
/** The refusals of a handshake for which trying again does not help. */
const FINAL_STATUSES = [401, 403, 404];
export class Link {
    #options;
    #state = { state: 'connecting' };
    #socket = null;
    #url;
    #timer;
    /** Since the last one that lasted. */
    #attempts = 0;
    /** When the last message arrived, and when that was checked, by `performance.now`. */
    #heardAtMs = 0;
    #lookedAtMs = 0;
    constructor(options) {
        this.#options = options;
        this.#url = options.urlAt(null);
    }
    get state() {
        return this.#state;
    }
    /** Returns whether the message was sent. */
    send(message) {
        const socket = this.#socket;
        if (this.#state.state !== 'open' || socket === null)
            return false;
        if (socket.bufferedAmount > UNSENT_MAX)
            return false;
        socket.send(JSON.stringify(message));
        return true;
    }
    async connect() {
        if (this.#state.state === 'closed')
            return;
        this.#enter({ state: 'connecting' });
        let headers = null;
        let failure = null;
        try {
            headers = await this.#options.headers();
        }
        catch (error) {
            failure = error;
        }
        // It may have been closed meanwhile.
        if (this.state.state !== 'connecting')
            return;
        if (failure !== null)
            return this.#retry(failure);
        try {
            this.#open(headers);
        }
        catch (error) {
            const why = `this WebSocket cannot be opened: ${error.message}`;
            const hint = 'a browser sends no credential and no organization, but the cookie of a session';
            this.close(new Error(headers === null ? why : `${why} (${hint})`, { cause: error }));
        }
    }
    /** The connection is of no use any more: another one is opened. */
    drop(error) {
        if (this.#state.state !== 'open')
            return;
        this.#release();
        this.#retry(error);
    }
    /** As `drop`; the next connection is to the node that the error names, if it names one. */
    leave(error) {
        if (this.#state.state === 'open')
            this.#goTo(error);
        this.drop(error);
    }
    #goTo(error) {
        const named = error instanceof RefusedError ? error.leader : null;
        const url = named === null ? null : this.#options.urlAt(named);
        if (url !== null)
            this.#url = url;
    }
    /** Closes it; it does not open again. */
    close(error) {
        if (this.#state.state === 'closed')
            return;
        this.#release();
        this.#enter({ state: 'closed', error });
    }
    #open(headers) {
        const { socketClass: Socket } = this.#options;
        const url = this.#url;
        const socket = headers === null ? new Socket(url) : new Socket(url, { headers });
        this.#socket = socket;
        const refused = () => void this.#refused(headers);
        this.#timer = setTimeout(refused, OPENS_WITHIN_MS);
        socket.onerror = refused;
        socket.onclose = refused;
        socket.onopen = () => this.#opened(socket);
    }
    async #refused(headers) {
        this.#release();
        const { refusal, urlAt } = this.#options;
        const url = this.#url;
        // The node that another one has named may be gone.
        this.#url = urlAt(null);
        const error = await refusal(url, headers);
        if (this.#state.state !== 'connecting')
            return;
        if (error instanceof RefusedError && FINAL_STATUSES.includes(error.status)) {
            return this.close(error);
        }
        this.#goTo(error);
        this.#retry(error ?? new Error('the server could not be reached'));
    }
    #opened(socket) {
        clearTimeout(this.#timer);
        const lost = (error) => {
            this.#release();
            this.#retry(error);
        };
        socket.onerror = () => lost(new Error('the connection was lost'));
        socket.onclose = ({ code, reason }) => {
            const error = new Error(`the connection was closed: ${code} ${reason}`.trimEnd());
            if (code !== KEY_ENDED || this.#options.isRenewed)
                return lost(error);
            this.close(new RefusedError(401, 'invalid_token', 'the key has ended', null));
        };
        socket.onmessage = ({ data }) => this.#take(data);
        this.#heardAtMs = performance.now();
        this.#lookedAtMs = this.#heardAtMs;
        const everyMs = this.#options.heartbeatMs / 4;
        this.#timer = setInterval(() => this.#look(everyMs), everyMs);
        this.#enter({ state: 'open' });
    }
    #take(data) {
        this.#heardAtMs = performance.now();
        let message;
        try {
            message = JSON.parse(String(data));
        }
        catch (error) {
            return this.drop(new Error('the server sent a message that is not JSON', { cause: error }));
        }
        if (typeof message !== 'object' || message === null)
            return;
        if ('heartbeat' in message)
            this.#attempts = 0;
        this.#options.onMessage(message);
    }
    /** A connection without messages for so long is lost. */
    #look(everyMs) {
        const nowMs = performance.now();
        // This program did nothing for a while, so it has not read arrived messages either.
        if (nowMs - this.#lookedAtMs > 2 * everyMs)
            this.#heardAtMs = nowMs;
        this.#lookedAtMs = nowMs;
        const { heartbeatMs, onTick } = this.#options;
        // Half a period more, so that a heartbeat that is a little late does not count as missing.
        if (nowMs - this.#heardAtMs > (HEARTBEATS_MISSED + 0.5) * heartbeatMs) {
            return this.drop(new Error('the heartbeats of the server are missing'));
        }
        onTick();
    }
    /** Clients that lost a server together do not return together: full jitter. */
    #retry(error) {
        const { firstPauseMs } = this.#options;
        const atMostMs = Math.min(PAUSE_MS_MAX, firstPauseMs * 2 ** Math.min(this.#attempts, 20));
        this.#attempts++;
        // A node that is named need not be waited for.
        const isHere = error instanceof RefusedError && error.leader === null;
        const wait = isHere ? (error.retryAfterSeconds ?? 0) : 0;
        const retryInMs = Math.random() * atMostMs + 1000 * Math.min(wait, WAIT_SECONDS_MAX);
        this.#timer = setTimeout(() => void this.connect(), retryInMs);
        this.#enter({ state: 'waiting', error, retryInMs });
    }
    /** Nothing that its socket still does has an effect. */
    #release() {
        clearTimeout(this.#timer);
        const socket = this.#socket;
        this.#socket = null;
        if (socket === null)
            return;
        const nothing = () => { };
        Object.assign(socket, {
            onopen: nothing,
            onmessage: nothing,
            onclose: nothing,
            onerror: nothing,
        });
        socket.close();
    }
    #enter(state) {
        this.#state = state;
        this.#options.onState(state);
    }
}
