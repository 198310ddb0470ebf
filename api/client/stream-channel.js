export class SubscribedChannel {
    name;
    #emit;
    /**
     * `asked`: messages are of an earlier subscription. `begun`: its first message is still to
     * arrive.
     */
    #phase = 'asked';
    #epoch = 0;
    /** Of the last message; null: its number is not known. */
    #seq = null;
    #quote = null;
    #after;
    /** @param after the last event of `orders` that is known */
    constructor(name, after, emit) {
        this.name = name;
        this.#after = after;
        this.#emit = emit;
    }
    /** Of `orders`: the last event that was sent to listeners. */
    get after() {
        return this.#after;
    }
    /** It is being subscribed to, again or for the first time. */
    ask() {
        this.#phase = 'asked';
        this.#seq = null;
        this.#quote = null;
    }
    /** The server has accepted the subscription: its messages follow. */
    begin() {
        this.#phase = 'begun';
    }
    /** Returns false if messages are missing, so that it must be subscribed to again. */
    take(message) {
        if (this.#phase === 'asked')
            return true;
        if (message.gap === true)
            return this.#takeGap();
        if (!this.#isNext(message))
            return this.#miss();
        this.#phase = 'live';
        this.#show(message);
        return true;
    }
    /** As `take`. @param seq the number of the last message, as the server has it */
    takeHeartbeat(seq) {
        return this.#seq === null || this.#seq === seq || this.#miss();
    }
    /** A snapshot follows; events that can be replayed are asked for instead. */
    #takeGap() {
        if (this.#phase === 'live' && this.#after !== null)
            return false;
        this.#seq = null;
        this.#emit('gap', { channel: this.name });
        return true;
    }
    #miss() {
        if (this.#after === null)
            this.#emit('gap', { channel: this.name });
        return false;
    }
    #isNext({ epoch, seq, snapshot, replayed }) {
        if (replayed === true)
            return true;
        if (seq === undefined)
            return false;
        const isFirst = snapshot === true || (this.#seq === null && this.name === 'orders');
        if (!isFirst && (epoch !== this.#epoch || seq !== (this.#seq ?? 0) + 1))
            return false;
        this.#epoch = epoch;
        this.#seq = seq;
        return true;
    }
    #show({ data, at, snapshot, replayed, eventId }) {
        if (this.name === 'orders') {
            if (snapshot !== true)
                return this.#showEvent(data, replayed === true);
            this.#after = eventId ?? null;
            this.#emit('portfolio', { portfolio: data, at });
        }
        else if (this.name === 'games') {
            if (snapshot !== true)
                return this.#emit('game', { game: data, at });
            this.#emit('games', { ...data, at });
        }
        else {
            const change = snapshot === true ? null : data;
            this.#quote = merged(this.#quote, data);
            this.#emit('quote', { quote: this.#quote, change, at });
        }
    }
    #showEvent(event, replayed) {
        if (this.#after !== null && event.eventId <= this.#after)
            return;
        this.#after = event.eventId;
        this.#emit('order', { event, replayed });
    }
}
/**
 * A merge patch applied (RFC 7396), but a member that it removes stays as null: every field of a
 * Quote is always there.
 */
function merged(before, patch) {
    if (!isObject(before) || !isObject(patch))
        return patch;
    const after = { ...before };
    for (const [name, value] of Object.entries(patch))
        after[name] = merged(before[name], value);
    return after;
}
function isObject(value) {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
}
