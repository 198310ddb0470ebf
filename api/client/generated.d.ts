/**
 * Paperbook (v1.11.0)
 * Every trade is a paper trade. Nothing is sent to a venue.
 *
 * **Units.** Fields that end in `Dollars` are dollars with at most two decimals. Fields that end in
 * `Cents` are cents, 1 to 99 for a price. A contract pays 100 cents when its side wins. Times are
 * ISO 8601 in UTC.
 *
 * **Requests.** Query parameters and body fields that are unknown or given twice are refused with 400. So a
 * typo never changes a request. A body has at most 64 KiB. An operation without one takes none, or `{}`.
 * `HEAD` works wherever `GET` does. `OPTIONS` answers 204 with `Allow`. An unknown path is 404
 * `route_not_found`. A wrong method on a known path is 405 `method_not_allowed` with `Allow`.
 *
 * **Order of checks.** The first checks are path and method, credential (401), scope (403) and request limits
 * (429). Query and body (400), organization (400, 404, 403) and switches (403) follow. The operation's own rules
 * come last.
 *
 * **Request limits.** By plan, for an account over all its keys, in the UTC minute and month. Each request
 * with a key counts as one, whatever its answer. `GET /quotes` counts as one for each instrument. `GET /usage`,
 * routes without a key and answers with 429 do not count. Unknown paths and wrong methods count, and
 * are never 429. The headers of every answer say how many requests are left. While `enforced` of `GET /usage` is
 * false, nothing is refused. Without a key the limit is advisory: 60 requests a minute for each address. Orders have
 * limits of their own, which are always enforced.
 *
 * **Sign-in.** It lies beside this API, under `/auth/v1`, and speaks the protocol of GoTrue.
 *
 * **Answers.** A field without a value is present and null. A few fields say that they are only there while the
 * venue-data switch is on. Later 1.x versions may add fields: ignore what you do not know.
 *
 * **Errors.** The body of every refusal is `{"error":{"code","message"}}`, with `retryAfterSeconds` where waiting
 * helps. Branch on the code. The codes of an operation are beside its statuses.
 *
 * **Headers.** Beside those that guard an answer in a browser:
 *
 * | header | on | content |
 * | --- | --- | --- |
 * | `X-Request-Id` | every answer | The request's own X-Request-Id, or a new one. |
 * | `Cache-Control` | every answer | no-store, or the seconds that the answer may be cached. |
 * | `RateLimit-Limit` | every answer | Requests per UTC minute: the plan's; without a key, 60 an address. |
 * | `RateLimit-Remaining` | every answer | Requests left in this minute. Without a key it is advice. |
 * | `RateLimit-Reset` | every answer | Seconds until the minute ends. |
 * | `RateLimit-Policy` | every answer | Every limit, and its window in seconds. Answers of the engine to orders and cancels have their hard trade limits, too. These are key-minute, key-day, account-minute and account-day. For sells and cancels they are key-closing-minute and account-closing-minute. They may be on a second line of the field. A list of items, as draft-ietf-httpapi-ratelimit-headers-11 has it. |
 * | `RateLimit` | every answer | The rest of every limit, and the seconds to its reset. Answers of the engine to orders and cancels have their hard trade limits, too. These are key-minute, key-day, account-minute and account-day. For sells and cancels they are key-closing-minute and account-closing-minute. They may be on a second line of the field. A list of items, as draft-ietf-httpapi-ratelimit-headers-11 has it. |
 * | `Strict-Transport-Security` | every answer | Over HTTPS. |
 * | `Service-Plan` | an answer to a key or a session | The plan of the caller's account. |
 * | `Service-Quota-Limit` | an answer to a key or a session | Requests per UTC month. |
 * | `Service-Quota-Remaining` | an answer to a key or a session | Requests left in this month. |
 * | `Service-Quota-Reset` | an answer to a key or a session | Seconds until 00:00 UTC on the 1st. |
 * | `WWW-Authenticate` | some answers | The error of the credential, or the missing scope (RFC 6750). |
 * | `Retry-After` | some answers | Seconds to wait; error.retryAfterSeconds is the same number. |
 * | `Content-Disposition` | some answers | Suggested file name. |
 */
export type Account = {
    /**
     * Spendable cash, without holds. A corrected result can take it below zero.
     */
    balanceDollars: number;
    /**
     * Balance, holds, and open positions at the live bid; without a bid at cost.
     */
    netWorthDollars: number;
    /**
     * Cost of the open positions.
     */
    openStakeDollars: number;
    /**
     * Dollars held by resting buys.
     */
    heldDollars: number;
    /**
     * @minimum 0
     */
    openPositions: number;
    /**
     * @minimum 0
     */
    restingOrders: number;
    /**
     * Number of the run: 1, and one more after each reset.
     * @minimum 1
     */
    run: number;
    /**
     * @format date-time
     */
    runStartedAt: string;
    /**
     * Balance at the start of the run.
     */
    startBalanceDollars: number;
    /**
     * Sum of the adjustments of the operator in this run.
     */
    adjustmentsInRunDollars: number;
    /**
     * Profit or loss of this run.
     */
    pnlSinceResetDollars: number;
    selfResetEnabled: boolean;
    /**
     * Reason why the account cannot be reset now.
     */
    resetBlockedBy: ("reset_not_enabled" | "reset_too_soon") | null;
    /**
     * If a reset is too soon: 30 days after the last reset.
     */
    nextResetAt: string | null;
    /**
     * Profit or loss over all runs.
     */
    lifetimePnlDollars: number;
    /**
     * @minimum 0
     */
    resets: number;
    /**
     * Runs whose net worth fell below a dollar.
     * @minimum 0
     */
    busts: number;
    lastResetAt: string | null;
};
export type AccountPage = {
    user: {
        /**
         * @format uuid
         */
        id: string;
        displayName: string | null;
        "private": boolean;
    };
    plan: Plan;
    realism: Realism;
    /**
     * Equal to the net worth; the start balance before the first trade.
     */
    points: number;
    /**
     * Spendable cash; the start balance before the first trade. Equal to that of the account.
     */
    balanceDollars: number;
    /**
     * Null before the first trade.
     */
    account: Account | null;
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type Action = "buy" | "sell";
export declare const Action: {
    readonly buy: "buy";
    readonly sell: "sell";
};
export type Backtest = {
    summary: {
        /**
         * @minimum 0
         */
        markets: number;
        /**
         * @minimum 0
         */
        trades: number;
        /**
         * @minimum 0
         */
        won: number;
        /**
         * @minimum 0
         */
        lost: number;
        /**
         * @minimum 0
         */
        "void": number;
        /**
         * @minimum 0
         */
        soldEarly: number;
        pnlDollars: number;
        feesDollars: number;
        pnlAfterFeesDollars: number;
        /**
         * P&L in percent of the cost; null without a trade.
         */
        roiPct: number | null;
        maxDrawdownDollars: number;
        /**
         * Brier score of entry prices, over trades held to a result; null without one.
         */
        brier: number | null;
    };
    /**
     * Positions count at their cost; fees are taken off.
     */
    equity: {
        /**
         * @format date-time
         */
        at: string;
        netWorthDollars: number;
    }[];
    /**
     * Oldest opened first.
     */
    trades: BacktestTrade[];
    /**
     * Markets without a trade, by reason.
     */
    skipped: {
        /**
         * @minimum 0
         */
        not_settled?: number;
        /**
         * @minimum 0
         */
        no_history?: number;
        /**
         * @minimum 0
         */
        no_price?: number;
        /**
         * @minimum 0
         */
        no_favorite?: number;
        /**
         * @minimum 0
         */
        out_of_band?: number;
        /**
         * @minimum 0
         */
        no_cash?: number;
    };
    coverage: {
        /**
         * Settled ones.
         * @minimum 0
         */
        markets: number;
        /**
         * @minimum 0
         */
        withQuotes: number;
        /**
         * Seconds without an expected price after the look.
         * @minimum 0
         */
        gapSeconds: number;
    };
    /**
     * SHA-256 of every input of the answer: equal hashes have equal answers.
     * @pattern ^[0-9a-f]{64}$
     */
    inputHash: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type BacktestRequest = {
    /**
     * Game winners (`moneyline`) that match every given filter.
     */
    markets: {
        /**
         * @minLength 1
         * @maxLength 64
         */
        league?: string;
        /**
         * A date or date-time: games that start at this time or later.
         * @minLength 1
         * @maxLength 64
         */
        from?: string;
        /**
         * A date or date-time: games that start before this time.
         * @minLength 1
         * @maxLength 64
         */
        to?: string;
        /**
         * @minItems 1
         * @maxItems 20000
         */
        instrumentIds?: string[];
    };
    rule: {
        /**
         * home and away: that team wins. favorite: the side with the higher mid at entry.
         */
        side: "yes" | "no" | "home" | "away" | "favorite" | "underdog";
        /**
         * The least entry price, inclusive.
         * @minimum 1
         * @maximum 99
         */
        minPriceCents?: number;
        /**
         * The highest entry price, inclusive.
         * @minimum 1
         * @maximum 99
         */
        maxPriceCents?: number;
        /**
         * Time of the one look for an entry; default 0. Negative: after the start.
         * @minimum -43200
         * @maximum 43200
         */
        entryMinutesBeforeStart?: number;
        /**
         * Sells when the bid is at this level or above.
         * @minimum 1
         * @maximum 99
         */
        takeProfitCents?: number;
        /**
         * Sells when the bid is at this level or below.
         * @minimum 1
         * @maximum 99
         */
        stopLossCents?: number;
        /**
         * Sells at this time, or at the next live bid. Negative: after the start.
         * @minimum -43200
         * @maximum 43200
         */
        exitMinutesBeforeStart?: number;
    };
    /**
     * Stake per market. Send exactly one of both. Dollars buy whole contracts.
     */
    stake: {
        /**
         * @minimum 1
         * @maximum 1000000000
         */
        contracts?: number;
        /**
         * @minimum 0.01
         * @maximum 1000000000
         */
        dollars?: number;
    };
    /**
     * Default 100000.
     * @minimum 0.01
     * @maximum 1000000000
     */
    startBalanceDollars?: number;
    /**
     * Default none. venue_a: the taker fee of its dated fee table.
     */
    fees?: "none" | "venue_a";
    /**
     * Default: the server's fill model.
     */
    fillModel?: "top_of_book" | "book_depth" | "queue";
};
export type BacktestTrade = {
    instrumentId: string;
    label: string;
    side: Side;
    /**
     * @minimum 1
     */
    contracts: number;
    /**
     * Present only while the venue-data switch is on.
     * @minimum 1
     * @maximum 99
     */
    entryCents?: number;
    /**
     * Present only while the venue-data switch is on.
     * @minimum 0
     * @maximum 100
     */
    exitCents?: number;
    /**
     * @format date-time
     */
    openedAt: string;
    /**
     * @format date-time
     */
    closedAt: string;
    result: BacktestTradeResult;
    pnlDollars: number;
    feesDollars: number;
};
export type BacktestTradeResult = "won" | "lost" | "void" | "sold";
export declare const BacktestTradeResult: {
    readonly won: "won";
    readonly lost: "lost";
    readonly void: "void";
    readonly sold: "sold";
};
export type Book = {
    /**
     * ins_ and 12 characters of 0-9A-HJKMNP-TV-Z
     * @pattern ^ins_[0-9A-HJKMNP-TV-Z]{12}$
     */
    instrumentId: string;
    /**
     * Venue of the levels; null if the instrument has no market.
     */
    venue: Venue | null;
    /**
     * Cents and contracts of each level, best first.
     * @maxItems 20
     */
    yesBids: number[][];
    /**
     * Cents and contracts of each level, best first.
     * @maxItems 20
     */
    yesAsks: number[][];
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type CanceledOrders = {
    /**
     * Ids of the orders that it canceled.
     */
    canceled: string[];
    /**
     * @minimum 0
     */
    count: number;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type Candle = {
    /**
     * @format date-time
     */
    start: string;
    /**
     * @format date-time
     */
    end: string;
    bid: Ohlc | null;
    ask: Ohlc | null;
    /**
     * Covers times when both sides had a price.
     */
    mid: Ohlc | null;
    trades: {
        /**
         * @minimum 0
         */
        count: number;
        /**
         * @minimum 0
         */
        contracts: number;
        /**
         * @minimum 0
         * @maximum 100
         */
        open: number;
        /**
         * @minimum 0
         * @maximum 100
         */
        high: number;
        /**
         * @minimum 0
         * @maximum 100
         */
        low: number;
        /**
         * @minimum 0
         * @maximum 100
         */
        close: number;
        /**
         * Null if no whole contract traded.
         */
        vwapCents: number | null;
    } | null;
    /**
     * Number of rows in the candle.
     * @minimum 0
     */
    quotes: number;
    /**
     * Seconds with a live price.
     * @minimum 0
     */
    liveSeconds: number;
    /**
     * Present only in the unfinished last candle, as false.
     */
    complete?: boolean;
};
export type CandlesPage = {
    /**
     * Null for a ticker.
     */
    instrumentId: string | null;
    venue: Venue;
    interval: Interval;
    candles: Candle[];
    /**
     * Gaps that overlap the listed candles, oldest first.
     */
    gaps: HistoryGap[];
    /**
     * Send it as cursor for the next page; null at the end.
     */
    nextCursor: string | null;
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type Equity = {
    /**
     * In order of time; the last one is now. Empty before the first trade.
     * @maxItems 500
     */
    points: EquityPoint[];
    /**
     * The present run; null before the first trade.
     */
    run: number | null;
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Whether the venue-data switch is on: else no venue reference or price is here.
     */
    venueData: boolean;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
    /**
     * Present when an organization's sandbox answered, not the personal account.
     */
    organization?: {
        slug: string;
    };
};
/**
 * The state of the account at that moment.
 */
export type EquityPoint = {
    /**
     * @format date-time
     */
    at: string;
    netWorthDollars: number;
    balanceDollars: number;
    openStakeDollars: number;
    /**
     * Realized profit or loss of its run.
     */
    realizedPnlDollars: number;
    /**
     * @minimum 1
     */
    run: number;
};
export type Error_2 = {
    error: {
        code: ErrorCode;
        /**
         * A sentence for people; may change.
         * @minLength 1
         */
        message: string;
        /**
         * The Retry-After header. On every 429, and on a 503 that passes.
         * @minimum 1
         */
        retryAfterSeconds?: number;
        leader?: string | null;
    };
};
/**
 * Stable: branch on this.
 */
export type ErrorCode = "invalid_request" | "unauthorized" | "invalid_token" | "session_required" | "insufficient_scope" | "guest_account" | "scope_not_available" | "venue_data_off" | "trading_off" | "membership_required" | "us_not_eligible" | "organization_forbidden" | "organization_not_found" | "route_not_found" | "market_not_found" | "instrument_not_found" | "game_not_found" | "trader_not_found" | "account_not_found" | "key_not_found" | "session_not_found" | "trade_not_found" | "order_not_found" | "order_group_not_found" | "method_not_allowed" | "too_late" | "idempotency_key_reused" | "no_tradable_listing" | "price_moved" | "insufficient_balance" | "market_not_open" | "market_resolved" | "no_liquidity" | "already_closed" | "venue_a_key_missing" | "venue_c_intl_key_missing" | "venue_a_rejected" | "venue_c_intl_rejected" | "live_trading_unavailable" | "key_limit_reached" | "would_take" | "order_group_limit" | "order_groups_full" | "reset_not_available" | "rate_limited" | "quota_exceeded" | "key_creation_limited" | "internal_error" | "not_leader" | "not_configured";
export declare const ErrorCode: {
    readonly invalid_request: "invalid_request";
    readonly unauthorized: "unauthorized";
    readonly invalid_token: "invalid_token";
    readonly session_required: "session_required";
    readonly insufficient_scope: "insufficient_scope";
    readonly guest_account: "guest_account";
    readonly scope_not_available: "scope_not_available";
    readonly venue_data_off: "venue_data_off";
    readonly trading_off: "trading_off";
    readonly membership_required: "membership_required";
    readonly us_not_eligible: "us_not_eligible";
    readonly organization_forbidden: "organization_forbidden";
    readonly organization_not_found: "organization_not_found";
    readonly route_not_found: "route_not_found";
    readonly market_not_found: "market_not_found";
    readonly instrument_not_found: "instrument_not_found";
    readonly game_not_found: "game_not_found";
    readonly trader_not_found: "trader_not_found";
    readonly account_not_found: "account_not_found";
    readonly key_not_found: "key_not_found";
    readonly session_not_found: "session_not_found";
    readonly trade_not_found: "trade_not_found";
    readonly order_not_found: "order_not_found";
    readonly order_group_not_found: "order_group_not_found";
    readonly method_not_allowed: "method_not_allowed";
    readonly too_late: "too_late";
    readonly idempotency_key_reused: "idempotency_key_reused";
    readonly no_tradable_listing: "no_tradable_listing";
    readonly price_moved: "price_moved";
    readonly insufficient_balance: "insufficient_balance";
    readonly market_not_open: "market_not_open";
    readonly market_resolved: "market_resolved";
    readonly no_liquidity: "no_liquidity";
    readonly already_closed: "already_closed";
    readonly venue_a_key_missing: "venue_a_key_missing";
    readonly venue_c_intl_key_missing: "venue_c_intl_key_missing";
    readonly venue_a_rejected: "venue_a_rejected";
    readonly venue_c_intl_rejected: "venue_c_intl_rejected";
    readonly live_trading_unavailable: "live_trading_unavailable";
    readonly key_limit_reached: "key_limit_reached";
    readonly would_take: "would_take";
    readonly order_group_limit: "order_group_limit";
    readonly order_groups_full: "order_groups_full";
    readonly reset_not_available: "reset_not_available";
    readonly rate_limited: "rate_limited";
    readonly quota_exceeded: "quota_exceeded";
    readonly key_creation_limited: "key_creation_limited";
    readonly internal_error: "internal_error";
    readonly not_leader: "not_leader";
    readonly not_configured: "not_configured";
};
export type EvalBoard = {
    /**
     * @maxItems 100
     */
    rows: EvalRow[];
    /**
     * Send it as cursor for the next page; null at the end.
     */
    nextCursor: string | null;
    /**
     * The requested window.
     */
    window: string;
    metric: "brier" | "log_loss" | "clv" | "pnl";
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type EvalPick = {
    /**
     * @format uuid
     */
    tradeId: string;
    /**
     * @format uuid
     */
    userId: string;
    instrumentId: string | null;
    gameId: string | null;
    gameKey: null;
    /**
     * The first pick on its instrument that was placed before the game.
     */
    inSlate: boolean;
    side: Side;
    status: "settled" | "void";
    /**
     * @format date-time
     */
    createdAt: string;
    /**
     * @format date-time
     */
    closedAt: string;
    outcome: number | null;
    outcomeSource: ("venue_result" | "catalog" | "operator") | null;
    /**
     * Null for an entry price while the venue-data switch is off.
     */
    forecastProb: number | null;
    forecastSource: "stated" | "entry_price";
    brier: number | null;
    logLoss: number | null;
    pnlDollars: number;
    pnlAfterFeesDollars: number;
    clvCents: number | null;
};
export type EvalRow = {
    /**
     * @minimum 1
     */
    rank: number;
    /**
     * @format uuid
     */
    traderId: string;
    /**
     * Null without a name.
     */
    displayName: string | null;
    /**
     * @minimum 0
     */
    picks: number;
    /**
     * @minimum 0
     */
    games: number;
    /**
     * The mean over slate picks.
     */
    value: number;
    /**
     * 95%, clustered by game.
     */
    interval: {
        low: number;
        high: number;
    } | null;
    /**
     * Reason for no interval.
     */
    intervalNote: string | null;
    rankInterval: {
        /**
         * @minimum 1
         */
        best: number;
        /**
         * @minimum 1
         */
        worst: number;
    } | null;
    /**
     * The Brier score of the entry price less the trader's own.
     */
    skill: number | null;
    tiedWithAbove: boolean | null;
};
/**
 * A change of an order, a trade or the account.
 */
export type Event = {
    /**
     * Sorts all events of the account, also as text. (the eventId of an event)
     * @pattern ^[0-9]{16}$
     */
    eventId: string;
    type: "order_placed" | "order_amended" | "order_arrived" | "order_part_filled" | "order_filled" | "order_canceled" | "order_expired" | "trade_opened" | "trade_closed" | "trade_settled" | "trade_corrected" | "account_reset";
    /**
     * @format date-time
     */
    at: string;
    /**
     * Of order events: the order.
     */
    order?: Order;
    /**
     * Of trade events except trade_corrected: the trade.
     */
    trade?: Trade;
    /**
     * Of account_reset: the new run.
     * @minimum 2
     */
    run?: number;
    /**
     * Of trade_corrected: the trade whose result changed.
     * @format uuid
     */
    tradeId?: string;
    /**
     * Of trade_corrected: the result before, in the instrument's terms.
     */
    from?: "yes" | "no" | "void" | "scalar";
    /**
     * Of trade_corrected: the result now, in the instrument's terms.
     */
    to?: "yes" | "no" | "void" | "scalar";
    /**
     * Of trade_corrected: the change of the balance; 0 if the run of the trade is over.
     */
    cashDollars?: number;
};
export type EventsPage = {
    /**
     * @maxItems 500
     */
    events: Event[];
    /**
     * Send it as after. It may be later than the last event. More events may follow although the page has fewer than limit. The end is reached when the value stays the same. (the eventId of an event)
     * @pattern ^[0-9]{16}$
     */
    nextAfter: string;
    /**
     * Whether the venue-data switch is on: else no venue reference or price is here.
     */
    venueData: boolean;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
    /**
     * Present when an organization's sandbox answered, not the personal account.
     */
    organization?: {
        slug: string;
    };
};
/**
 * How closely the rules of the venue match the instrument.
 */
export type Fungibility = "exact" | "near" | "none";
export declare const Fungibility: {
    readonly exact: "exact";
    readonly near: "near";
    readonly none: "none";
};
export type Game = {
    /**
     * game_ and 10 characters of 0-9A-HJKMNP-TV-Z
     * @pattern ^game_[0-9A-HJKMNP-TV-Z]{10}$
     */
    id: string;
    /**
     * A readable name. Paths take it instead of the id.
     */
    slug: string;
    league: string;
    /**
     * @format date-time
     */
    startsAt: string;
    status: GameStatus;
    home: Team;
    away: Team;
    /**
     * Its instruments.
     * @minimum 0
     */
    instrumentCount: number;
    /**
     * The year that names the season.
     */
    season: number | null;
    seasonType: string | null;
    week: number | null;
};
export type GameAnswer = {
    game: Game;
    instruments: Instrument[];
    /**
     * Number of rows in this answer.
     * @minimum 0
     */
    count: number;
    /**
     * Whether the venue-data switch is on: else no venue reference or price is here.
     */
    venueData: boolean;
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type GameStatus = "scheduled" | "inprogress" | "final" | "postponed" | "cancelled";
export declare const GameStatus: {
    readonly scheduled: "scheduled";
    readonly inprogress: "inprogress";
    readonly final: "final";
    readonly postponed: "postponed";
    readonly cancelled: "cancelled";
};
export type GamesPage = {
    games: Game[];
    /**
     * Number of rows in this answer.
     * @minimum 0
     */
    count: number;
    /**
     * Send it as cursor for the next page; null at the end.
     */
    nextCursor: string | null;
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type GapReason = "connection_lost" | "sequence_gap" | "stale" | "server_down" | "damaged";
export declare const GapReason: {
    readonly connection_lost: "connection_lost";
    readonly sequence_gap: "sequence_gap";
    readonly stale: "stale";
    readonly server_down: "server_down";
    readonly damaged: "damaged";
};
export type HistoryAsOf = {
    /**
     * In the requested order, each once.
     */
    rows: {
        instrumentId: string;
        venue: Venue;
        yesBidCents: number | null;
        yesAskCents: number | null;
        yesBidContracts: number | null;
        yesAskContracts: number | null;
        /**
         * @format date-time
         */
        quotedAt: string;
        /**
         * Whether a Quote showed a price. If false, all prices are null.
         */
        live: boolean;
    }[];
    /**
     * Ids without an instrument at this venue, or without a row by this time.
     */
    notFound: string[];
    /**
     * @format date-time
     */
    at: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type HistoryExport = string;
export type HistoryGap = {
    /**
     * @format date-time
     */
    from: string;
    /**
     * Time when the price was live again; null while the gap is open.
     */
    to: string | null;
    reason: GapReason;
};
export type HistoryPage = {
    /**
     * Null for a ticker.
     */
    instrumentId: string | null;
    venue: Venue;
    quotes: HistoryRow[];
    /**
     * Gaps between from and to, oldest first.
     */
    gaps: HistoryGap[];
    /**
     * Send it as cursor for the next page; null at the end.
     */
    nextCursor: string | null;
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type HistoryRow = {
    /**
     * @format date-time
     */
    at: string;
    yesBidCents: number | null;
    yesAskCents: number | null;
    yesBidContracts: number | null;
    yesAskContracts: number | null;
    /**
     * Whether a Quote showed a price. If false, all prices are null.
     */
    live: boolean;
};
/**
 * A yes-or-no question; a contract on it pays 100 cents.
 */
export type Instrument = {
    /**
     * ins_ and 12 characters of 0-9A-HJKMNP-TV-Z
     * @pattern ^ins_[0-9A-HJKMNP-TV-Z]{12}$
     */
    id: string;
    /**
     * A readable name. Paths take it instead of the id.
     */
    slug: string;
    /**
     * Null if it belongs to no game.
     */
    gameId: string | null;
    gameSlug: string | null;
    league: string;
    marketType: MarketType;
    period: Period;
    /**
     * The spread or total of the question.
     */
    line: number | null;
    /**
     * The subject of the question.
     */
    subject: Team | null;
    label: string;
    oppositeLabel: string | null;
    /**
     * Condition for yes to win.
     */
    yesMeans: string;
    /**
     * @format date-time
     */
    startsAt: string;
    startsAtSource: StartSource;
    gameStatus: GameStatus | null;
    home: Team | null;
    away: Team | null;
    /**
     * Whether it can end with neither side winning.
     */
    pushPossible: boolean;
    /**
     * The venues of its listings.
     */
    venues: Venue[];
    stat: string | null;
    tieRule: string | null;
    settlesOn: string | null;
    postponementWindowHours: number | null;
    rulesVersion: number;
    listings: Listing[];
};
export type InstrumentAnswer = {
    instrument: Instrument;
    /**
     * Whether the venue-data switch is on: else no venue reference or price is here.
     */
    venueData: boolean;
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type InstrumentsFound = {
    instruments: Instrument[];
    /**
     * Number of rows in this answer.
     * @minimum 0
     */
    count: number;
    /**
     * Whether the venue-data switch is on: else no venue reference or price is here.
     */
    venueData: boolean;
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type InstrumentsPage = {
    instruments: Instrument[];
    /**
     * Number of rows in this answer.
     * @minimum 0
     */
    count: number;
    /**
     * Send it as cursor for the next page; null at the end.
     */
    nextCursor: string | null;
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
    /**
     * Whether the venue-data switch is on: else no venue reference or price is here.
     */
    venueData: boolean;
};
export type Interval = "1m" | "5m" | "15m" | "1h" | "1d";
export type KeyAnswer = {
    key: KeyView;
};
export type KeyCreateRequest = {
    /**
     * a name without control, bidi or zero-width characters. Blanks around it are cut off before it is measured; `Untitled key` when left out or blank.
     * @maxLength 64
     * @pattern ^[^\x00-\x08\x0e-\x1f\x7f]*$
     * @format shown-text
     */
    label?: string;
    /**
     * records:read, portfolio:read and markets:read when left out.
     * @minItems 1
     */
    scopes?: Scope[];
    /**
     * Left out: it never expires.
     * @minimum 1
     * @maximum 365
     */
    expiresInDays?: number;
};
export type KeyCreateResponse = {
    key: KeyView;
    /**
     * The key itself, shown once: svc_sk_ and 43 base64url characters.
     * @pattern ^svc_sk_[A-Za-z0-9_-]{43}$
     */
    token: string;
    warning: string;
};
export type KeyList = {
    keys: KeyView[];
    /**
     * @minimum 0
     */
    count: number;
    /**
     * Whether a new key may carry trade:write now. Rotation keeps the scopes that a key has.
     */
    tradeWriteAvailable: boolean;
};
export type KeyRotateRequest = {
    /**
     * Hours that the old key keeps working; default 24.
     * @minimum 0
     * @maximum 168
     */
    graceHours?: number;
    /**
     * Lifetime of the new key; default: the lifetime of the old key.
     * @minimum 1
     * @maximum 365
     */
    expiresInDays?: number;
};
export type KeyRotateResponse = {
    key: KeyView;
    /**
     * The key itself, shown once: svc_sk_ and 43 base64url characters.
     * @pattern ^svc_sk_[A-Za-z0-9_-]{43}$
     */
    token: string;
    warning: string;
    /**
     * The old key.
     */
    rotated: KeyView;
};
/**
 * rotating: replaced, and valid until it expires.
 */
export type KeyStatus = "active" | "rotating" | "revoked" | "expired";
export declare const KeyStatus: {
    readonly active: "active";
    readonly rotating: "rotating";
    readonly revoked: "revoked";
    readonly expired: "expired";
};
export type KeyView = {
    /**
     * @format uuid
     */
    id: string;
    /**
     * @maxLength 64
     */
    label: string;
    /**
     * The first 16 characters of the key, never the whole key.
     * @minLength 16
     * @maxLength 16
     */
    tokenPrefix: string;
    scopes: Scope[];
    status: KeyStatus;
    /**
     * @format date-time
     */
    createdAt: string;
    /**
     * Updated at most once an hour.
     */
    lastUsedAt: string | null;
    expiresAt: string | null;
    revokedAt: string | null;
    createdVia: "web" | "cli";
    /**
     * Id of the key that this key replaced.
     */
    rotatedFrom: string | null;
    /**
     * Time when this key was replaced.
     */
    rotatedAt: string | null;
    /**
     * Requests counted against it in this UTC month.
     * @minimum 0
     */
    requestsThisMonth: number;
};
export type LastTrade = {
    priceCents: number | null;
    at: string | null;
};
export type Leaderboard = {
    /**
     * @maxItems 100
     */
    rows: LeaderboardRow[];
    /**
     * Send it as cursor for the next page; null at the end.
     */
    nextCursor: string | null;
    /**
     * The requested window.
     */
    window: string;
    kind: "pnl" | "roi" | "net_worth";
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type LeaderboardRow = {
    /**
     * @minimum 1
     */
    rank: number;
    /**
     * @format uuid
     */
    traderId: string;
    /**
     * Null without a name.
     */
    displayName: string | null;
    /**
     * Of all trades that ended in the window, in any way.
     */
    pnlDollars: number;
    /**
     * 100 × P&L / cost of those trades.
     */
    roiPct: number | null;
    /**
     * At present, with open trades at live bids; without a bid at cost.
     */
    netWorthDollars: number;
    /**
     * @minimum 0
     */
    settledPicks: number;
    /**
     * @minimum 0
     */
    won: number;
    /**
     * @minimum 0
     */
    lost: number;
    /**
     * @minimum 0
     */
    "void": number;
    /**
     * @minimum 0
     */
    resets: number;
    /**
     * @minimum 0
     */
    busts: number;
};
/**
 * The body of a limit buy.
 */
export type LimitBuy = {
    action: "buy";
    type: "limit";
    /**
     * One key per order. The same key with the same order returns the stored order and places nothing. After a timeout or a 503, send the order again with its key. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    idempotencyKey?: string;
    /**
     * Another name for idempotencyKey: send exactly one of the two. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    clientOrderId?: string;
    /**
     * Of a buy: the instrument to buy. (ins_ and 12 characters of 0-9A-HJKMNP-TV-Z)
     * @pattern ^ins_[0-9A-HJKMNP-TV-Z]{12}$
     */
    instrumentId: string;
    /**
     * Of a buy: the side to buy.
     */
    side: Side;
    /**
     * Of a buy: contracts.
     * @minimum 1
     * @maximum 1000000000
     */
    count: number;
    /**
     * Of a limit order: cents a contract of the side; filled at that or better.
     * @minimum 1
     * @maximum 99
     */
    limitPriceCents: number;
    /**
     * Of a limit order: gtc (default) rests; ioc and fok fill now or cancel.
     */
    timeInForce?: "gtc" | "ioc" | "fok" | "good_till_canceled" | "immediate_or_cancel" | "fill_or_kill";
    /**
     * Of a gtc order: the time it stops resting, at most 365 days ahead. Seconds are optional.
     * @format date-time
     */
    expiresAt?: string;
    /**
     * Of a gtc order: true if it may only rest. Where it would take, it is refused with 409 would_take; under latency it is canceled with would_take. Default false.
     */
    postOnly?: boolean;
    /**
     * Of a sell, which knows nothing else. True of a buy is 400. Default false.
     */
    reduceOnly?: boolean;
    /**
     * The order group whose cap its fills count for.
     * @format uuid
     */
    orderGroupId?: string;
    /**
     * best: a fill may have the price of venue_b or venue_c. Default venue_a.
     */
    routing?: "venue_a" | "best";
    /**
     * Of a buy: your probability of the side, in percent.
     * @minimum 1
     * @maximum 99
     */
    statedProbPct?: number;
    /**
     * An order that the engine takes later is 409 too_late, and its key is not used. An order that was placed before returns the stored order.
     * @format date-time
     */
    rejectIfLaterThan?: string;
    /**
     * Default paper; each other value needs its own scope.
     */
    execution?: "paper" | "venue_a" | "venue_c_intl" | "venue_c";
};
/**
 * The body of a limit sell.
 */
export type LimitSell = {
    action: "sell";
    type: "limit";
    /**
     * One key per order. The same key with the same order returns the stored order and places nothing. After a timeout or a 503, send the order again with its key. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    idempotencyKey?: string;
    /**
     * Another name for idempotencyKey: send exactly one of the two. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    clientOrderId?: string;
    /**
     * Of a sell: the open position, all of it.
     * @format uuid
     */
    tradeId: string;
    /**
     * Of a limit order: cents a contract of the side; filled at that or better.
     * @minimum 1
     * @maximum 99
     */
    limitPriceCents: number;
    /**
     * Of a limit order: gtc (default) rests; ioc and fok fill now or cancel.
     */
    timeInForce?: "gtc" | "ioc" | "fok" | "good_till_canceled" | "immediate_or_cancel" | "fill_or_kill";
    /**
     * Of a gtc order: the time it stops resting, at most 365 days ahead. Seconds are optional.
     * @format date-time
     */
    expiresAt?: string;
    /**
     * Of a gtc order: true if it may only rest. Where it would take, it is refused with 409 would_take; under latency it is canceled with would_take. Default false.
     */
    postOnly?: boolean;
    /**
     * Of a sell, which knows nothing else. True of a buy is 400. Default false.
     */
    reduceOnly?: boolean;
    /**
     * The order group whose cap its fills count for.
     * @format uuid
     */
    orderGroupId?: string;
    /**
     * best: a fill may have the price of venue_b or venue_c. Default venue_a.
     */
    routing?: "venue_a" | "best";
    /**
     * An order that the engine takes later is 409 too_late, and its key is not used. An order that was placed before returns the stored order.
     * @format date-time
     */
    rejectIfLaterThan?: string;
    /**
     * Default paper; each other value needs its own scope.
     */
    execution?: "paper" | "venue_a" | "venue_c_intl" | "venue_c";
};
/**
 * The body of a limit buy.
 */
export type LimitTickerBuy = {
    action: "buy";
    type: "limit";
    /**
     * One key per order. The same key with the same order returns the stored order and places nothing. After a timeout or a 503, send the order again with its key. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    idempotencyKey?: string;
    /**
     * Another name for idempotencyKey: send exactly one of the two. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    clientOrderId?: string;
    /**
     * Of a buy, instead of instrumentId: a venue market. The side is in the market's terms.
     * @minLength 1
     * @maxLength 256
     */
    ticker: string;
    /**
     * Of a buy: the side to buy.
     */
    side: Side;
    /**
     * Of a buy: contracts.
     * @minimum 1
     * @maximum 1000000000
     */
    count: number;
    /**
     * Of a limit order: cents a contract of the side; filled at that or better.
     * @minimum 1
     * @maximum 99
     */
    limitPriceCents: number;
    /**
     * Of a limit order: gtc (default) rests; ioc and fok fill now or cancel.
     */
    timeInForce?: "gtc" | "ioc" | "fok" | "good_till_canceled" | "immediate_or_cancel" | "fill_or_kill";
    /**
     * Of a gtc order: the time it stops resting, at most 365 days ahead. Seconds are optional.
     * @format date-time
     */
    expiresAt?: string;
    /**
     * Of a gtc order: true if it may only rest. Where it would take, it is refused with 409 would_take; under latency it is canceled with would_take. Default false.
     */
    postOnly?: boolean;
    /**
     * Of a sell, which knows nothing else. True of a buy is 400. Default false.
     */
    reduceOnly?: boolean;
    /**
     * The order group whose cap its fills count for.
     * @format uuid
     */
    orderGroupId?: string;
    /**
     * best: a fill may have the price of venue_b or venue_c. Default venue_a.
     */
    routing?: "venue_a" | "best";
    /**
     * Of a buy: your probability of the side, in percent.
     * @minimum 1
     * @maximum 99
     */
    statedProbPct?: number;
    /**
     * An order that the engine takes later is 409 too_late, and its key is not used. An order that was placed before returns the stored order.
     * @format date-time
     */
    rejectIfLaterThan?: string;
    /**
     * Default paper; each other value needs its own scope.
     */
    execution?: "paper" | "venue_a" | "venue_c_intl" | "venue_c";
};
/**
 * A venue market of the instrument. Venue references are present only while the venue-data switch is on.
 */
export type Listing = {
    venue: Venue;
    /**
     * 1: yes of the instrument is yes of the venue's market; -1: it is its no.
     */
    polarity: 1 | -1;
    /**
     * Name of the side at the venue.
     */
    sideLabel?: string | null;
    fungibility: Fungibility;
    /**
     * Whether a person compared the rules.
     */
    reviewed: boolean;
    note: string | null;
    /**
     * The side to buy there for yes here.
     */
    buyForYes?: Side;
    /**
     * The side to buy there for no here.
     */
    buyForNo?: Side;
    /**
     * The venue's ticker.
     */
    venueMarketId?: string;
    venueSideRef?: string | null;
    venueEvent?: string | null;
};
/**
 * The body of a market buy.
 */
export type MarketBuy = {
    action: "buy";
    type: "market";
    /**
     * One key per order. The same key with the same order returns the stored order and places nothing. After a timeout or a 503, send the order again with its key. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    idempotencyKey?: string;
    /**
     * Another name for idempotencyKey: send exactly one of the two. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    clientOrderId?: string;
    /**
     * Of a buy: the instrument to buy. (ins_ and 12 characters of 0-9A-HJKMNP-TV-Z)
     * @pattern ^ins_[0-9A-HJKMNP-TV-Z]{12}$
     */
    instrumentId: string;
    /**
     * Of a buy: the side to buy.
     */
    side: Side;
    /**
     * Of a buy: contracts.
     * @minimum 1
     * @maximum 1000000000
     */
    count: number;
    /**
     * Of a sell, which knows nothing else. True of a buy is 400. Default false.
     */
    reduceOnly?: boolean;
    /**
     * The order group whose cap its fills count for.
     * @format uuid
     */
    orderGroupId?: string;
    /**
     * Of a market buy: fill at this or less, else 409 price_moved.
     * @minimum 1
     * @maximum 99
     */
    maxPriceCents?: number;
    /**
     * best: a fill may have the price of venue_b or venue_c. Default venue_a.
     */
    routing?: "venue_a" | "best";
    /**
     * Of a buy: your probability of the side, in percent.
     * @minimum 1
     * @maximum 99
     */
    statedProbPct?: number;
    /**
     * An order that the engine takes later is 409 too_late, and its key is not used. An order that was placed before returns the stored order.
     * @format date-time
     */
    rejectIfLaterThan?: string;
    /**
     * Default paper; each other value needs its own scope.
     */
    execution?: "paper" | "venue_a" | "venue_c_intl" | "venue_c";
};
/**
 * The body of a market sell.
 */
export type MarketSell = {
    action: "sell";
    type: "market";
    /**
     * One key per order. The same key with the same order returns the stored order and places nothing. After a timeout or a 503, send the order again with its key. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    idempotencyKey?: string;
    /**
     * Another name for idempotencyKey: send exactly one of the two. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    clientOrderId?: string;
    /**
     * Of a sell: the open position, all of it.
     * @format uuid
     */
    tradeId: string;
    /**
     * Of a sell, which knows nothing else. True of a buy is 400. Default false.
     */
    reduceOnly?: boolean;
    /**
     * The order group whose cap its fills count for.
     * @format uuid
     */
    orderGroupId?: string;
    /**
     * Of a market sell: fill at this or more, else 409 price_moved.
     * @minimum 1
     * @maximum 99
     */
    minPriceCents?: number;
    /**
     * best: a fill may have the price of venue_b or venue_c. Default venue_a.
     */
    routing?: "venue_a" | "best";
    /**
     * An order that the engine takes later is 409 too_late, and its key is not used. An order that was placed before returns the stored order.
     * @format date-time
     */
    rejectIfLaterThan?: string;
    /**
     * Default paper; each other value needs its own scope.
     */
    execution?: "paper" | "venue_a" | "venue_c_intl" | "venue_c";
};
/**
 * The body of a market buy.
 */
export type MarketTickerBuy = {
    action: "buy";
    type: "market";
    /**
     * One key per order. The same key with the same order returns the stored order and places nothing. After a timeout or a 503, send the order again with its key. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    idempotencyKey?: string;
    /**
     * Another name for idempotencyKey: send exactly one of the two. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    clientOrderId?: string;
    /**
     * Of a buy, instead of instrumentId: a venue market. The side is in the market's terms.
     * @minLength 1
     * @maxLength 256
     */
    ticker: string;
    /**
     * Of a buy: the side to buy.
     */
    side: Side;
    /**
     * Of a buy: contracts.
     * @minimum 1
     * @maximum 1000000000
     */
    count: number;
    /**
     * Of a sell, which knows nothing else. True of a buy is 400. Default false.
     */
    reduceOnly?: boolean;
    /**
     * The order group whose cap its fills count for.
     * @format uuid
     */
    orderGroupId?: string;
    /**
     * Of a market buy: fill at this or less, else 409 price_moved.
     * @minimum 1
     * @maximum 99
     */
    maxPriceCents?: number;
    /**
     * best: a fill may have the price of venue_b or venue_c. Default venue_a.
     */
    routing?: "venue_a" | "best";
    /**
     * Of a buy: your probability of the side, in percent.
     * @minimum 1
     * @maximum 99
     */
    statedProbPct?: number;
    /**
     * An order that the engine takes later is 409 too_late, and its key is not used. An order that was placed before returns the stored order.
     * @format date-time
     */
    rejectIfLaterThan?: string;
    /**
     * Default paper; each other value needs its own scope.
     */
    execution?: "paper" | "venue_a" | "venue_c_intl" | "venue_c";
};
export type MarketType = "moneyline" | "spread" | "total" | "team_total" | "player_prop" | "series" | "outright" | "other";
export declare const MarketType: {
    readonly moneyline: "moneyline";
    readonly spread: "spread";
    readonly total: "total";
    readonly team_total: "team_total";
    readonly player_prop: "player_prop";
    readonly series: "series";
    readonly outright: "outright";
    readonly other: "other";
};
export type Me = {
    user: {
        /**
         * @format uuid
         */
        id: string;
        displayName: string | null;
        /**
         * Whether the account is private; null if it could not be read.
         */
        "private": boolean | null;
        /**
         * Whether trades placed while private are shown once public.
         */
        showEarlierTrades: boolean;
    };
    /**
     * Of the personal account.
     */
    realism: Realism;
    /**
     * Null for a session.
     */
    key: {
        /**
         * The first 16 characters of the key.
         */
        prefix: string;
        scopes: Scope[];
    } | null;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
    paperOnly: true;
    /**
     * Null if the server could not read them.
     */
    limits: RequestLimits | null;
};
export type Ohlc = {
    /**
     * @minimum 0
     * @maximum 100
     */
    open: number;
    /**
     * @minimum 0
     * @maximum 100
     */
    high: number;
    /**
     * @minimum 0
     * @maximum 100
     */
    low: number;
    /**
     * @minimum 0
     * @maximum 100
     */
    close: number;
};
/**
 * An OpenAPI 3.1 document.
 */
export type OpenApiDocument = {
    /**
     * @pattern ^3\.1\.
     */
    openapi: string;
    info: {
        version: string;
    };
    paths: Record<string, unknown>;
    components: Record<string, unknown>;
};
/**
 * A limit order, or a market order under latency. marketTicker and fillPriceCents are present only while the venue-data switch is on.
 */
export type Order = {
    /**
     * @format uuid
     */
    orderId: string;
    action: Action;
    /**
     * Null if the instrument has left the catalog.
     */
    instrumentId: string | null;
    instrumentLabel: string | null;
    /**
     * The side in the terms of the instrument.
     */
    instrumentSide: Side;
    /**
     * The side in the terms of the venue market.
     */
    orderSide: Side;
    /**
     * @minimum 1
     */
    contracts: number;
    /**
     * @minimum 0
     */
    filledContracts: number;
    /**
     * @minimum 0
     */
    remainingContracts: number;
    /**
     * The limit, in cents a contract of the side traded; null: a market order.
     */
    limitCents: number | null;
    /**
     * Part of the balance that it holds, with its worst fees.
     */
    holdDollars: number;
    /**
     * Null: a market order.
     */
    timeInForce: ("gtc" | "ioc" | "fok") | null;
    /**
     * Time when it stops resting; null: never.
     */
    expiresAt: string | null;
    status: OrderStatus;
    /**
     * Under latency: when the order, or its cancel, meets the book. Null once it has met it.
     */
    pendingUntil: string | null;
    /**
     * @format date-time
     */
    createdAt: string;
    /**
     * Time when the whole order had traded, else null.
     */
    executedAt: string | null;
    /**
     * Time of the cancel, else null.
     */
    canceledAt: string | null;
    /**
     * Time of its last change of status.
     * @format date-time
     */
    updatedAt: string;
    /**
     * The caller's stated probability of the side, in percent.
     */
    statedProbPct: number | null;
    /**
     * Source of the order.
     */
    placedVia: "api" | "web" | "cli";
    /**
     * Whether the account was private at the time.
     */
    placedPrivate: boolean;
    /**
     * Fill model of the order; null if it is older than this field.
     */
    fillModel: ("top_of_book" | "book_depth" | "queue") | null;
    /**
     * Fees of its fills so far; below zero: rebates. Null: it pays no fees. Neither costDollars nor prices have them.
     */
    feesDollars: number | null;
    /**
     * Whether it may only rest, and never takes.
     */
    postOnly: boolean;
    /**
     * Its order group; null: it is of none.
     */
    orderGroupId: string | null;
    /**
     * The venue market's ticker.
     */
    marketTicker?: string;
    type: OrderType;
    /**
     * Reason of a cancel or expiry; else null.
     */
    cancelReason: ("canceled_by_owner" | "ioc_not_filled" | "fok_not_filled" | "market_resolved" | "position_closed" | "account_reset" | "expired" | "instrument_dropped" | "disconnected" | "no_liquidity" | "price_moved" | "would_take" | "order_group_limit") | null;
    /**
     * Trade that the order opened or closes.
     */
    tradeId: string | null;
    /**
     * Price of the fill; null before a fill.
     */
    fillPriceCents?: number | null;
};
export type OrderAnswer = {
    order: Order;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
    /**
     * Whether the venue-data switch is on: else no venue reference or price is here.
     */
    venueData: boolean;
    /**
     * Present when an organization's sandbox answered, not the personal account.
     */
    organization?: {
        slug: string;
    };
};
export type OrderBatch = {
    /**
     * @minItems 1
     * @maxItems 100
     */
    orders: OrderRequest[];
};
export type OrderBatchResults = {
    /**
     * In the order of the request.
     * @minItems 1
     * @maxItems 100
     */
    results: {
        /**
         * Status of the answer, as of `POST /portfolio/orders`.
         */
        status: number;
        /**
         * Body of the answer, also if it is an error.
         */
        body: OrderPlacement | Error_2;
    }[];
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
/**
 * At least one of contracts and limitPriceCents.
 */
export type OrderChange = {
    /**
     * One key per change. The same key with the same change returns the order as it is now. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    idempotencyKey: string;
    /**
     * Contracts of the whole order, with those that have traded. Of a buy.
     * @minimum 1
     * @maximum 1000000000
     */
    contracts?: number;
    /**
     * The new limit, in cents a contract.
     * @minimum 1
     * @maximum 99
     */
    limitPriceCents?: number;
};
export type OrderGroup = {
    /**
     * @format uuid
     */
    orderGroupId: string;
    /**
     * Its orders are canceled once they have traded so many contracts in the window.
     * @minimum 1
     * @maximum 1000000
     */
    contractsLimit: number;
    /**
     * The length of the rolling window.
     * @minimum 1
     * @maximum 3600
     */
    windowSeconds: number;
    /**
     * Contracts that its orders have traded within the window.
     * @minimum 0
     */
    tradedContracts: number;
    /**
     * Whether new orders of it are refused now.
     */
    isReached: boolean;
    /**
     * @format date-time
     */
    createdAt: string;
};
export type OrderGroupAnswer = {
    orderGroup: OrderGroup;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type OrderGroupRequest = {
    /**
     * Its orders are canceled once they have traded so many contracts in the window.
     * @minimum 1
     * @maximum 1000000
     */
    contractsLimit: number;
    /**
     * The length of the rolling window.
     * @minimum 1
     * @maximum 3600
     */
    windowSeconds: number;
};
export type OrderGroups = {
    /**
     * @maxItems 25
     */
    orderGroups: OrderGroup[];
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type OrderPlacement = {
    /**
     * canceled: an ioc or fok that did not fill; nothing was spent.
     */
    status: "executed" | "resting" | "canceled";
    action: Action;
    type: OrderType;
    idempotencyKey: string;
    /**
     * True if the key was used before: this is the stored order, and nothing new was placed.
     */
    replayed: boolean;
    /**
     * On a replay, the time of the first placement.
     */
    originalCreatedAt: string | null;
    /**
     * Null for a market order: a fill, not an order.
     */
    order: Order | null;
    /**
     * The trade that it opened or closed; null while resting and after a cancel.
     */
    trade: Trade | null;
    /**
     * Venue that priced the fill; paper only.
     */
    fillVenue: Venue | null;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
    /**
     * Whether the venue-data switch is on: else no venue reference or price is here.
     */
    venueData: boolean;
    /**
     * Price of the fill; null before a fill.
     */
    fillPriceCents?: number | null;
};
/**
 * While the venue-data switch is off, would, fills, costDollars, feeDollars and quoteAgeMs are null. The fields code and holdDollars depend on no price.
 */
export type OrderPreview = {
    /**
     * rest: the contracts that do not trade at once rest. cancel: an ioc or fok without a fill, or a market order under latency without one.
     */
    would: ("execute" | "rest" | "cancel" | "refuse") | null;
    /**
     * Reason of a refusal; absent without a refusal.
     */
    code?: ErrorCode;
    /**
     * Fills that would trade at once.
     */
    fills: {
        /**
         * Price of the traded side.
         * @minimum 1
         * @maximum 99
         */
        priceCents: number;
        /**
         * @minimum 1
         */
        contracts: number;
        /**
         * Venue that would price the fill.
         */
        venue: Venue;
    }[] | null;
    /**
     * Cost of the fills, without fees; 0 for a sell.
     */
    costDollars: number | null;
    /**
     * Hold while it rests, with its fees. While venue data is off, the hold if no contract trades at once.
     */
    holdDollars: number;
    /**
     * Fee of the fills; for an account that pays no fees, the fee at the venue.
     */
    feeDollars: number | null;
    /**
     * Time since the last message on the connection of the quote; null without one.
     */
    quoteAgeMs: number | null;
    /**
     * The order meets the book so much later, and would, fills and costs are of the book as it is now. Null: it meets the book at once.
     */
    latencyMs: {
        /**
         * @minimum 0
         */
        min: number;
        /**
         * @minimum 0
         */
        max: number;
    } | null;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type OrderRequest = MarketBuy | LimitBuy | MarketSell | LimitSell | MarketTickerBuy | LimitTickerBuy;
export type OrderStatus = "resting" | "executed" | "canceled" | "expired";
export declare const OrderStatus: {
    readonly resting: "resting";
    readonly executed: "executed";
    readonly canceled: "canceled";
    readonly expired: "expired";
};
export type OrderType = "market" | "limit";
export declare const OrderType: {
    readonly market: "market";
    readonly limit: "limit";
};
export type OrdersPage = {
    orders: Order[];
    /**
     * Send it as cursor for the next page; null at the end.
     */
    nextCursor: string | null;
    /**
     * Whether the venue-data switch is on: else no venue reference or price is here.
     */
    venueData: boolean;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
    /**
     * Present when an organization's sandbox answered, not the personal account.
     */
    organization?: {
        slug: string;
    };
};
export type Organization = {
    /**
     * What X-Service-Org takes.
     * @format uuid
     */
    id: string;
    slug: string;
    name: string;
    role: Role;
    realism: Realism;
};
export type OrganizationAnswer = {
    organization: Organization;
};
export type OrganizationsAnswer = {
    organizations: Organization[];
    /**
     * @minimum 0
     */
    count: number;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type OwnEval = {
    /**
     * The requested window.
     */
    window: string;
    picks: EvalPick[];
    notes: string[];
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type Period = "game" | "h1" | "h2" | "q1" | "q2" | "q3" | "q4" | "p1" | "p2" | "p3" | "inning_1" | "set_1" | "regulation" | "season";
export declare const Period: {
    readonly game: "game";
    readonly h1: "h1";
    readonly h2: "h2";
    readonly q1: "q1";
    readonly q2: "q2";
    readonly q3: "q3";
    readonly q4: "q4";
    readonly p1: "p1";
    readonly p2: "p2";
    readonly p3: "p3";
    readonly inning_1: "inning_1";
    readonly set_1: "set_1";
    readonly regulation: "regulation";
    readonly season: "season";
};
export type Pick = {
    /**
     * @format uuid
     */
    pickId: string;
    side: Side;
    result: "won" | "lost" | "void";
    stakeDollars: number | null;
    pnlDollars: number;
    /**
     * @format date-time
     */
    openedAt: string;
    /**
     * @format date-time
     */
    closedAt: string;
    instrumentId: string | null;
    marketLabel: string | null;
    marketLabelReason?: "no_service_label";
    /**
     * Only for the owner with portfolio:read.
     */
    placedPrivate?: boolean;
    /**
     * Whether the public sees it. For the owner alone.
     */
    shown?: boolean;
};
export type PicksPage = {
    /**
     * @maxItems 100
     */
    picks: Pick[];
    /**
     * Send it as cursor for the next page; null at the end.
     */
    nextCursor: string | null;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type Plan = "none" | "basic" | "builder" | "desk" | "enterprise";
export declare const Plan: {
    readonly none: "none";
    readonly basic: "basic";
    readonly builder: "builder";
    readonly desk: "desk";
    readonly enterprise: "enterprise";
};
export type Portfolio = {
    /**
     * Null before the first trade.
     */
    account: Account | null;
    /**
     * @maxItems 500
     */
    positions: Position[];
    /**
     * Number of all open positions, listed or not.
     * @minimum 0
     */
    positionsCount: number;
    /**
     * Whether there are more than 500.
     */
    positionsTruncated: boolean;
    /**
     * @maxItems 200
     */
    orders: RestingOrder[];
    /**
     * Number of all resting orders, listed or not.
     * @minimum 0
     */
    ordersCount: number;
    /**
     * Whether there are more than 200.
     */
    ordersTruncated: boolean;
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Whether the venue-data switch is on: else no venue reference or price is here.
     */
    venueData: boolean;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
    /**
     * Present when an organization's sandbox answered, not the personal account.
     */
    organization?: {
        slug: string;
    };
};
/**
 * An open trade. marketTicker, entryCents, markCents, valueDollars and unrealizedPnlDollars are present only while the venue-data switch is on.
 */
export type Position = {
    /**
     * @format uuid
     */
    tradeId: string;
    /**
     * Null if the instrument has left the catalog.
     */
    instrumentId: string | null;
    instrumentLabel: string | null;
    /**
     * The side in the terms of the instrument.
     */
    instrumentSide: Side;
    /**
     * The side in the terms of the venue market. Its yes may be the no of the instrument: never compare it with resolvedOutcome.
     */
    boughtSide: Side;
    /**
     * @minimum 1
     */
    contracts: number;
    /**
     * Cost in dollars, without fees.
     */
    costDollars: number;
    /**
     * The caller's stated probability of the side, in percent.
     */
    statedProbPct: number | null;
    /**
     * Source of the order.
     */
    placedVia: "api" | "web" | "cli";
    /**
     * Whether the account was private at the time.
     */
    placedPrivate: boolean;
    /**
     * Fill model of the order; null if it is older than this field.
     */
    fillModel: ("top_of_book" | "book_depth" | "queue") | null;
    /**
     * Fees of its fills so far; below zero: rebates. Null: it pays no fees. Neither costDollars nor prices have them.
     */
    feesDollars: number | null;
    parlayId: string | null;
    /**
     * Venue that priced the fill; paper only.
     */
    fillVenue: Venue | null;
    /**
     * @format date-time
     */
    openedAt: string;
    /**
     * The venue market's ticker.
     */
    marketTicker?: string;
    /**
     * Price paid, in cents a contract.
     * @minimum 1
     * @maximum 99
     */
    entryCents?: number;
    /**
     * The live bid of the side; null without one.
     */
    markCents?: number | null;
    /**
     * Value in net worth: at the live bid; without a bid at cost.
     */
    valueDollars?: number;
    /**
     * valueDollars less the cost.
     */
    unrealizedPnlDollars?: number;
};
export type Profile = {
    /**
     * Of the personal account.
     */
    realism: Realism;
    user: {
        /**
         * @format uuid
         */
        id: string;
        displayName: string | null;
        "private": boolean;
        /**
         * Whether trades placed while private are shown once public.
         */
        showEarlierTrades: boolean;
    };
};
export type ProfileChange = {
    displayName?: string | null;
    "private"?: boolean;
    /**
     * Whether trades placed while private are shown once public.
     */
    showEarlierTrades?: boolean;
    /**
     * A preset, or the parts to change. It counts for orders placed afterwards.
     */
    realism?: RealismPreset | {
        /**
         * Fill model of its orders; server: the model of the server.
         */
        model?: "server" | "top_of_book" | "book_depth" | "queue";
        /**
         * How long after its acceptance an order meets the book.
         */
        latencyMs?: {
            /**
             * @minimum 0
             * @maximum 60000
             */
            min: number;
            /**
             * @minimum 0
             * @maximum 60000
             */
            max: number;
        };
        /**
         * venue: fills cost the venue's fees.
         */
        fees?: "none" | "venue";
        /**
         * market: displayed sizes fill once for all accounts of this choice.
         */
        liquidity?: "account" | "market";
    };
};
export type Quote = {
    /**
     * ins_ and 12 characters of 0-9A-HJKMNP-TV-Z
     * @pattern ^ins_[0-9A-HJKMNP-TV-Z]{12}$
     */
    instrumentId: string;
    label: string;
    /**
     * Condition for yes to win.
     */
    queryMeans: string;
    /**
     * @format date-time
     */
    startsAt: string;
    /**
     * Whether more than one venue has a price.
     */
    crossVenue: boolean;
    /**
     * The venues with a price now.
     */
    venues: VenueQuote[];
    /**
     * The venues without a price, with the reason.
     */
    omitted: {
        venue: Venue;
        note: string;
    }[];
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    disclaimer: string;
    oppositeLabel: string | null;
    league: string;
    marketType: MarketType;
    matchup: string | null;
    gameStatus: GameStatus | null;
    /**
     * Present once venue_a has the result.
     */
    result?: QuoteResult;
};
export type QuoteAnswer = {
    quote: Quote;
    /**
     * Whether crossVenue is true of any quote here.
     */
    crossVenue: boolean;
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
/**
 * A market's result, in the terms of the instrument.
 */
export type QuoteResult = {
    /**
     * scalar: a value between yes and no.
     */
    outcome: "yes" | "no" | "void" | "scalar";
    /**
     * Payout of a contract of yes; null: the cost is paid back.
     */
    yesPaysCents: number | null;
};
export type QuotesAnswer = {
    /**
     * In the requested order, each once.
     */
    quotes: Quote[];
    /**
     * Ids without an instrument.
     */
    notFound: string[];
    /**
     * Whether crossVenue is true of any quote here.
     */
    crossVenue: boolean;
    /**
     * Time of this answer.
     * @format date-time
     */
    asOf: string;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type Realism = {
    /**
     * Fill model of its orders; server: the model of the server.
     */
    model: "server" | "top_of_book" | "book_depth" | "queue";
    /**
     * How long after its acceptance an order meets the book.
     */
    latencyMs: {
        /**
         * @minimum 0
         * @maximum 60000
         */
        min: number;
        /**
         * @minimum 0
         * @maximum 60000
         */
        max: number;
    };
    /**
     * venue: fills cost the venue's fees.
     */
    fees: "none" | "venue";
    /**
     * market: displayed sizes fill once for all accounts of this choice.
     */
    liquidity: "account" | "market";
};
export type RealismPreset = "simple" | "realistic";
export declare const RealismPreset: {
    readonly simple: "simple";
    readonly realistic: "realistic";
};
export type RealismRequest = {
    /**
     * A preset, or the parts to change. It counts for orders placed afterwards.
     */
    realism: RealismPreset | {
        /**
         * Fill model of its orders; server: the model of the server.
         */
        model?: "server" | "top_of_book" | "book_depth" | "queue";
        /**
         * How long after its acceptance an order meets the book.
         */
        latencyMs?: {
            /**
             * @minimum 0
             * @maximum 60000
             */
            min: number;
            /**
             * @minimum 0
             * @maximum 60000
             */
            max: number;
        };
        /**
         * venue: fills cost the venue's fees.
         */
        fees?: "none" | "venue";
        /**
         * market: displayed sizes fill once for all accounts of this choice.
         */
        liquidity?: "account" | "market";
    };
};
export type Receipt = {
    version: 1;
    /**
     * @format uuid
     */
    orderId: string;
    tradeId: string | null;
    model: ("top_of_book" | "book_depth" | "queue") | null;
    /**
     * @minimum 0
     */
    latencyMs: number;
    /**
     * @format date-time
     */
    acceptedAt: string;
    /**
     * Null until it has met the book.
     */
    arrivedAt: string | null;
    fills: ReceiptFill[];
};
export type ReceiptFill = {
    /**
     * @format date-time
     */
    at: string;
    /**
     * @minimum 1
     */
    contracts: number;
    /**
     * @minimum 1
     * @maximum 99
     */
    priceCents: number;
    liquidity: "maker" | "taker";
    venue: Venue;
    /**
     * What it took, as [cents, contracts], best first; null if it waited in a queue.
     */
    levels: number[][] | null;
    /**
     * Null if it was not filled in a queue.
     */
    queue: {
        /**
         * Shown at its price when it arrived; null if nobody knew the book then.
         */
        aheadAtArrival: number | null;
        aheadBefore: number | null;
        /**
         * What met it since its last fill, each with its whole size.
         */
        prints: {
            /**
             * @format date-time
             */
            at: string;
            /**
             * @minimum 0
             */
            contracts: number;
        }[];
    } | null;
    /**
     * Null if an earlier version of the server has filled it.
     */
    quoteAgeMs: number | null;
    /**
     * How long nobody knew its book while it waited; null outside of queues.
     */
    gapsMs: number | null;
    /**
     * What the order was charged. Null if it pays no fees.
     */
    fee: {
        dollars: number;
        /**
         * The line of the fee table, with its date; null if no line names the market.
         */
        table: string | null;
        /**
         * Of the line; null if the catalog does not name the market any more.
         */
        rate: string | null;
        /**
         * In words, with all figures.
         */
        formula: string;
    } | null;
};
export type RequestLimits = {
    minute: {
        /**
         * Requests per UTC minute.
         * @minimum 0
         */
        limit: number;
        /**
         * Requests left in this minute.
         * @minimum 0
         */
        remaining: number;
    };
    month: {
        /**
         * Requests per UTC month.
         * @minimum 0
         */
        limit: number;
        /**
         * Requests of this month so far.
         * @minimum 0
         */
        used: number;
    };
    /**
     * False: a request over the limit is still answered, and only counted.
     */
    enforced: boolean;
};
export type ResetResult = {
    account: Account;
};
/**
 * A resting limit order. marketTicker is present only while the venue-data switch is on.
 */
export type RestingOrder = {
    /**
     * @format uuid
     */
    orderId: string;
    action: Action;
    /**
     * Null if the instrument has left the catalog.
     */
    instrumentId: string | null;
    instrumentLabel: string | null;
    /**
     * The side in the terms of the instrument.
     */
    instrumentSide: Side;
    /**
     * The side in the terms of the venue market.
     */
    orderSide: Side;
    /**
     * @minimum 1
     */
    contracts: number;
    /**
     * @minimum 0
     */
    filledContracts: number;
    /**
     * @minimum 0
     */
    remainingContracts: number;
    /**
     * The limit, in cents a contract of the side traded; null: a market order.
     */
    limitCents: number | null;
    /**
     * Part of the balance that it holds, with its worst fees.
     */
    holdDollars: number;
    /**
     * Null: a market order.
     */
    timeInForce: ("gtc" | "ioc" | "fok") | null;
    /**
     * Time when it stops resting; null: never.
     */
    expiresAt: string | null;
    status: OrderStatus;
    /**
     * Under latency: when the order, or its cancel, meets the book. Null once it has met it.
     */
    pendingUntil: string | null;
    /**
     * @format date-time
     */
    createdAt: string;
    /**
     * Time when the whole order had traded, else null.
     */
    executedAt: string | null;
    /**
     * Time of the cancel, else null.
     */
    canceledAt: string | null;
    /**
     * Time of its last change of status.
     * @format date-time
     */
    updatedAt: string;
    /**
     * The caller's stated probability of the side, in percent.
     */
    statedProbPct: number | null;
    /**
     * Source of the order.
     */
    placedVia: "api" | "web" | "cli";
    /**
     * Whether the account was private at the time.
     */
    placedPrivate: boolean;
    /**
     * Fill model of the order; null if it is older than this field.
     */
    fillModel: ("top_of_book" | "book_depth" | "queue") | null;
    /**
     * Fees of its fills so far; below zero: rebates. Null: it pays no fees. Neither costDollars nor prices have them.
     */
    feesDollars: number | null;
    /**
     * Whether it may only rest, and never takes.
     */
    postOnly: boolean;
    /**
     * Its order group; null: it is of none.
     */
    orderGroupId: string | null;
    /**
     * The venue market's ticker.
     */
    marketTicker?: string;
};
export type Role = "owner" | "member";
export declare const Role: {
    readonly owner: "owner";
    readonly member: "member";
};
/**
 * A permission of a key.
 */
export type Scope = "records:read" | "portfolio:read" | "markets:read" | "trade:write" | "trade:write:venue_a" | "trade:write:venue_c_intl";
export type Session = {
    /**
     * @format uuid
     */
    id: string;
    /**
     * The sign-in.
     * @format date-time
     */
    createdAt: string;
    /**
     * Time of the last token renewal. A client in use renews every hour.
     * @format date-time
     */
    lastUsedAt: string;
    /**
     * Whether this session sent the request.
     */
    current: boolean;
};
export type Sessions = {
    sessions: Session[];
    /**
     * @minimum 0
     */
    count: number;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type Side = "yes" | "no";
export declare const Side: {
    readonly yes: "yes";
    readonly no: "no";
};
export type SignedReceipt = {
    receipt: Receipt;
    envelope: {
        /**
         * The canonical JSON of what is signed, in base64url.
         */
        payload: string;
        signature: string;
        publicKey: string;
        keyId: string;
        algorithm: "Ed25519";
    };
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type SignedTrackRecord = {
    envelope: {
        /**
         * The canonical JSON of what is signed, in base64url.
         */
        payload: string;
        signature: string;
        publicKey: string;
        keyId: string;
        algorithm: "Ed25519";
    };
    record: TrackRecord;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
/**
 * Source of the start. With day, only the day is known: startsAt is its midnight.
 */
export type StartSource = "catalog" | "ticker" | "milestone" | "venue" | "estimate" | "day";
export declare const StartSource: {
    readonly catalog: "catalog";
    readonly ticker: "ticker";
    readonly milestone: "milestone";
    readonly venue: "venue";
    readonly estimate: "estimate";
    readonly day: "day";
};
export type Status = {
    ok: true;
    version: "v1";
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
    /**
     * Time of the server.
     * @format date-time
     */
    time: string;
};
export type Team = {
    code: string;
    name: string;
};
export type TrackRecord = {
    version: 1;
    /**
     * @format uuid
     */
    traderId: string;
    days: 90;
    /**
     * @format date-time
     */
    from: string;
    /**
     * @format date-time
     */
    to: string;
    /**
     * @format date-time
     */
    issuedAt: string;
    /**
     * @minimum 0
     */
    settledPicks: number;
    /**
     * @minimum 0
     */
    won: number;
    /**
     * @minimum 0
     */
    lost: number;
    /**
     * @minimum 0
     */
    "void": number;
    pnlDollars: number;
    pnlAfterFeesDollars: number;
    roiPct: number | null;
    /**
     * @minimum 0
     */
    games: number;
    brier: number | null;
    logLoss: number | null;
    clvCents: number | null;
    skill: number | null;
    interval: {
        method: "CR2";
        level: 0.95;
        clusteredBy: "game";
        brier: {
            low: number;
            high: number;
        } | null;
        logLoss: {
            low: number;
            high: number;
        } | null;
        clvCents: {
            low: number;
            high: number;
        } | null;
        pnlAfterFeesDollars: {
            low: number;
            high: number;
        } | null;
    };
    /**
     * The day of the newest fee table in use.
     */
    feeTable: string | null;
    fillModel: "top_of_book" | "book_depth" | "queue";
    /**
     * Absent: all picks.
     */
    fills?: "realistic";
    /**
     * Present only while the venue-data switch is on.
     */
    bySeries?: {
        series: string;
        /**
         * @minimum 0
         */
        settledPicks: number;
        pnlDollars: number;
    }[];
};
export type TrackRecordKey = {
    kty: "OKP";
    crv: "Ed25519";
    /**
     * The public key, 32 bytes in base64url.
     */
    x: string;
    /**
     * The keyId of records that this key signed.
     */
    kid: string;
    alg: "EdDSA";
    use: "sig";
};
export type TrackRecordKeys = {
    /**
     * Every key that ever signed, newest first.
     */
    keys: TrackRecordKey[];
};
/**
 * A position in any status. marketTicker, entryCents and exitCents are present only while the venue-data switch is on.
 */
export type Trade = {
    /**
     * @format uuid
     */
    tradeId: string;
    /**
     * Null if the instrument has left the catalog.
     */
    instrumentId: string | null;
    instrumentLabel: string | null;
    /**
     * The side in the terms of the instrument.
     */
    instrumentSide: Side;
    /**
     * The side in the terms of the venue market. Its yes may be the no of the instrument: never compare it with resolvedOutcome.
     */
    boughtSide: Side;
    /**
     * @minimum 1
     */
    contracts: number;
    /**
     * Cost in dollars, without fees.
     */
    costDollars: number;
    /**
     * The caller's stated probability of the side, in percent.
     */
    statedProbPct: number | null;
    /**
     * Source of the order.
     */
    placedVia: "api" | "web" | "cli";
    /**
     * Whether the account was private at the time.
     */
    placedPrivate: boolean;
    /**
     * Fill model of the order; null if it is older than this field.
     */
    fillModel: ("top_of_book" | "book_depth" | "queue") | null;
    /**
     * Fees of its fills so far; below zero: rebates. Null: it pays no fees. Neither costDollars nor prices have them.
     */
    feesDollars: number | null;
    parlayId: string | null;
    /**
     * Venue that priced the fill; paper only.
     */
    fillVenue: Venue | null;
    /**
     * @format date-time
     */
    openedAt: string;
    /**
     * The venue market's ticker.
     */
    marketTicker?: string;
    /**
     * Price paid, in cents a contract.
     * @minimum 1
     * @maximum 99
     */
    entryCents?: number;
    status: TradeStatus;
    closedAt: string | null;
    closeReason: ("sold" | "settled" | "voided" | "account_reset") | null;
    /**
     * Profit or loss in dollars, less its fees; null while open.
     */
    pnlDollars: number | null;
    /**
     * The result in the terms of the instrument, as instrumentSide: if the two are equal, the trade won. Null without a result, after a void, and for a result between yes and no.
     */
    resolvedOutcome: Side | null;
    /**
     * Mean exit price of a contract, rounded down; null while open.
     */
    exitCents?: number | null;
};
/**
 * closed: sold by an order. reset: closed by an account reset.
 */
export type TradeStatus = "open" | "closed" | "settled" | "void" | "reset";
export declare const TradeStatus: {
    readonly open: "open";
    readonly closed: "closed";
    readonly settled: "settled";
    readonly void: "void";
    readonly reset: "reset";
};
export type Trader = {
    /**
     * @format uuid
     */
    id: string;
    /**
     * Null without a name.
     */
    displayName: string | null;
    /**
     * If true, only the id and the name are shown.
     */
    "private": boolean;
    /**
     * False if private, or while trades placed in private are hidden.
     */
    numbersShown: boolean;
    /**
     * Time of the sign-up.
     */
    since: string | null;
    /**
     * Of all ended trades of all runs.
     */
    pnlDollars: number | null;
    roiPct: number | null;
    /**
     * At present, with open trades at live bids; without a bid at cost. Null before the first trade.
     */
    netWorthDollars: number | null;
    /**
     * On the board of window `all`, kind `pnl`.
     */
    rank: number | null;
    /**
     * @minimum 0
     */
    settledPicks: number;
    /**
     * @minimum 0
     */
    won: number;
    /**
     * @minimum 0
     */
    lost: number;
    /**
     * @minimum 0
     */
    "void": number;
    /**
     * @minimum 0
     */
    resets: number;
    resetHistory: {
        /**
         * @format date-time
         */
        at: string;
        /**
         * The new run.
         * @minimum 0
         */
        run: number;
    }[];
    /**
     * @minimum 0
     */
    busts: number;
};
export type TraderAnswer = {
    trader: Trader;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type TradesPage = {
    trades: Trade[];
    /**
     * Send it as cursor for the next page; null at the end.
     */
    nextCursor: string | null;
    /**
     * Whether the venue-data switch is on: else no venue reference or price is here.
     */
    venueData: boolean;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
    /**
     * Present when an organization's sandbox answered, not the personal account.
     */
    organization?: {
        slug: string;
    };
};
export type Usage = {
    plan: Plan;
    minute: {
        /**
         * Requests per UTC minute.
         * @minimum 0
         */
        limit: number;
        /**
         * Requests left in this minute.
         * @minimum 0
         */
        remaining: number;
        /**
         * Seconds to the next UTC minute.
         * @minimum 0
         */
        resetSeconds: number;
    };
    month: {
        /**
         * Requests per UTC month.
         * @minimum 0
         */
        limit: number;
        /**
         * Requests of this month so far.
         * @minimum 0
         */
        used: number;
        /**
         * Requests left in this month.
         * @minimum 0
         */
        remaining: number;
        /**
         * Seconds to the next UTC month.
         * @minimum 0
         */
        resetSeconds: number;
    };
    /**
     * Null for a session, whose requests count for the account alone.
     */
    key: {
        /**
         * The first 16 characters of the key.
         */
        prefix: string;
        /**
         * Requests counted against this key this month.
         * @minimum 0
         */
        requestsThisMonth: number;
    } | null;
    /**
     * The hard trade limits; null while the engine cannot say.
     */
    trading: {
        /**
         * Usage of this key or session, over all its accounts.
         */
        key: {
            /**
             * New orders in the UTC minute.
             */
            newPerMinute: {
                /**
                 * @minimum 0
                 */
                limit: number;
                /**
                 * @minimum 0
                 */
                remaining: number;
                /**
                 * Seconds to the end of the window, on the time of the engine.
                 * @minimum 0
                 */
                resetSeconds: number;
            };
            /**
             * New orders on the UTC day.
             */
            newPerDay: {
                /**
                 * @minimum 0
                 */
                limit: number;
                /**
                 * @minimum 0
                 */
                remaining: number;
                /**
                 * Seconds to the end of the window, on the time of the engine.
                 * @minimum 0
                 */
                resetSeconds: number;
            };
            /**
             * Sells and cancels in the UTC minute.
             */
            closingPerMinute: {
                /**
                 * @minimum 0
                 */
                limit: number;
                /**
                 * @minimum 0
                 */
                remaining: number;
                /**
                 * Seconds to the end of the window, on the time of the engine.
                 * @minimum 0
                 */
                resetSeconds: number;
            };
        };
        /**
         * Usage of the owner's personal account, over all keys.
         */
        account: {
            /**
             * New orders in the UTC minute.
             */
            newPerMinute: {
                /**
                 * @minimum 0
                 */
                limit: number;
                /**
                 * @minimum 0
                 */
                remaining: number;
                /**
                 * Seconds to the end of the window, on the time of the engine.
                 * @minimum 0
                 */
                resetSeconds: number;
            };
            /**
             * New orders on the UTC day.
             */
            newPerDay: {
                /**
                 * @minimum 0
                 */
                limit: number;
                /**
                 * @minimum 0
                 */
                remaining: number;
                /**
                 * Seconds to the end of the window, on the time of the engine.
                 * @minimum 0
                 */
                resetSeconds: number;
            };
            /**
             * Sells and cancels in the UTC minute.
             */
            closingPerMinute: {
                /**
                 * @minimum 0
                 */
                limit: number;
                /**
                 * @minimum 0
                 */
                remaining: number;
                /**
                 * Seconds to the end of the window, on the time of the engine.
                 * @minimum 0
                 */
                resetSeconds: number;
            };
        };
    } | null;
    /**
     * False: a request over the limit is still answered, and only counted.
     */
    enforced: boolean;
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type Venue = "venue_a" | "venue_b" | "venue_c" | "venue_c_intl";
export declare const Venue: {
    readonly venue_a: "venue_a";
    readonly venue_b: "venue_b";
    readonly venue_c: "venue_c";
    readonly venue_c_intl: "venue_c_intl";
};
export type VenueKeyAnswer = {
    venueKey: VenueKeyView;
};
export type VenueKeyCreateRequest = {
    /**
     * a name without control, bidi or zero-width characters. Blanks around it are cut off before it is measured; `Untitled key` when left out or blank.
     * @maxLength 64
     * @pattern ^[^\x00-\x08\x0e-\x1f\x7f]*$
     * @format shown-text
     */
    label?: string;
};
export type VenueKeyCreateResponse = {
    /**
     * KALSHI-ACCESS-KEY of the requests that it signs.
     * @format uuid
     */
    keyId: string;
    /**
     * @maxLength 64
     */
    label: string;
    /**
     * @format date-time
     */
    createdAt: string;
    /**
     * The private key in PEM, shown once. The server does not keep it.
     * @pattern ^-----BEGIN RSA PRIVATE KEY-----
     */
    privateKeyPem: string;
};
export type VenueKeyList = {
    venueKeys: VenueKeyView[];
    /**
     * @minimum 0
     */
    count: number;
};
export type VenueKeyView = {
    /**
     * KALSHI-ACCESS-KEY of the requests that it signs.
     * @format uuid
     */
    keyId: string;
    /**
     * @maxLength 64
     */
    label: string;
    /**
     * @format date-time
     */
    createdAt: string;
};
/**
 * A venue's prices, in the terms of the instrument.
 */
export type VenueQuote = {
    venue: Venue;
    /**
     * The venue's ticker.
     */
    venueMarketId: string;
    venueSideRef: string | null;
    sideLabel: string | null;
    /**
     * Price at which yes sells; null without a bid.
     */
    yesBidCents: number | null;
    /**
     * Price at which yes can be bought; null without an ask.
     */
    yesAskCents: number | null;
    /**
     * Half cents occur: the middle of 41 and 44 is 42.5.
     */
    yesMidCents: number | null;
    /**
     * Price of yes in the last trade.
     */
    lastTradeCents: number | null;
    lastTradeAt: string | null;
    outcomeLastTrades: {
        yes: LastTrade;
        no: LastTrade;
    };
    /**
     * Contracts offered at the bid; null with the price.
     */
    yesBidContracts: number | null;
    /**
     * Contracts offered at the ask; null with the price.
     */
    yesAskContracts: number | null;
    /**
     * Whether no can be bought there too.
     */
    complementTradable: boolean;
    /**
     * @minimum 1
     */
    minOrderContracts: number;
    /**
     * Time of these prices.
     * @format date-time
     */
    asOf: string;
    fungibility: Fungibility;
    note: string | null;
    reviewed: boolean;
};
export type Verdict = {
    /**
     * not_yet: too few games to say.
     */
    verdict: "edge" | "no_edge" | "not_yet";
    /**
     * The measure that decides.
     */
    basis: "pnl_after_fees" | "clv";
    /**
     * clv: cents a contract after fees. pnl_after_fees: dollars a pick.
     */
    mean: number | null;
    /**
     * 95%, clustered by game; null: too few games.
     */
    interval: {
        low: number;
        high: number;
    } | null;
    /**
     * @minimum 0
     */
    games: number;
    /**
     * Further games for an answer in 80% of cases; null: the spread is not known.
     */
    gamesNeeded: number | null;
    /**
     * Whether the edge shows, and trades under realistic fills do not show it.
     */
    simpleOnly: boolean;
    notes: string[];
    /**
     * Every trade is a paper trade.
     */
    mode: "paper";
};
export type GetStatusResult = Status;
export type GetStatusHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetStatusResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type GetStatusVariables = {
    headers?: GetStatusHeaders;
};
export type GetMeResult = Me;
export type GetMeHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetMeResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetMeVariables = {
    headers?: GetMeHeaders;
};
export type ChangeMeResult = Profile;
export type ChangeMeBody = ProfileChange;
export type ChangeMeHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ChangeMeResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type ChangeMeVariables = {
    body: ChangeMeBody;
    headers?: ChangeMeHeaders;
};
export type GetUsageResult = Usage;
export type GetUsageHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetUsageResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetUsageVariables = {
    headers?: GetUsageHeaders;
};
export type ListOrganizationsResult = OrganizationsAnswer;
export type ListOrganizationsHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListOrganizationsResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type ListOrganizationsVariables = {
    headers?: ListOrganizationsHeaders;
};
export type ChangeOrganizationResult = OrganizationAnswer;
export type ChangeOrganizationPath = {
    /**
     * Id of the organization, in either case.
     * @format uuid
     */
    organizationId: string;
};
export type ChangeOrganizationBody = RealismRequest;
export type ChangeOrganizationHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ChangeOrganizationResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type ChangeOrganizationVariables = {
    path: ChangeOrganizationPath;
    body: ChangeOrganizationBody;
    headers?: ChangeOrganizationHeaders;
};
export type ListSessionsResult = Sessions;
export type ListSessionsHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListSessionsResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type ListSessionsVariables = {
    headers?: ListSessionsHeaders;
};
export type EndSessionResult = Sessions;
export type EndSessionPath = {
    /**
     * Id of the session, in either case.
     * @format uuid
     */
    id: string;
};
export type EndSessionHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type EndSessionResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type EndSessionVariables = {
    path: EndSessionPath;
    headers?: EndSessionHeaders;
};
export type ListKeysResult = KeyList;
export type ListKeysHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListKeysResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type ListKeysVariables = {
    headers?: ListKeysHeaders;
};
export type CreateKeyResult = KeyCreateResponse;
export type CreateKeyBody = KeyCreateRequest;
export type CreateKeyHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type CreateKeyResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type CreateKeyVariables = {
    body: CreateKeyBody;
    headers?: CreateKeyHeaders;
};
export type RotateKeyResult = KeyRotateResponse;
export type RotateKeyPath = {
    /**
     * Id of the key, in either case.
     * @format uuid
     */
    id: string;
};
export type RotateKeyBody = KeyRotateRequest;
export type RotateKeyHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type RotateKeyResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type RotateKeyVariables = {
    path: RotateKeyPath;
    body?: RotateKeyBody;
    headers?: RotateKeyHeaders;
};
export type RevokeKeyResult = KeyAnswer;
export type RevokeKeyPath = {
    /**
     * Id of the key, in either case.
     * @format uuid
     */
    id: string;
};
export type RevokeKeyHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type RevokeKeyResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type RevokeKeyVariables = {
    path: RevokeKeyPath;
    headers?: RevokeKeyHeaders;
};
export type ListVenueKeysResult = VenueKeyList;
export type ListVenueKeysHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListVenueKeysResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type ListVenueKeysVariables = {
    headers?: ListVenueKeysHeaders;
};
export type CreateVenueKeyResult = VenueKeyCreateResponse;
export type CreateVenueKeyBody = VenueKeyCreateRequest;
export type CreateVenueKeyHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type CreateVenueKeyResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type CreateVenueKeyVariables = {
    body?: CreateVenueKeyBody;
    headers?: CreateVenueKeyHeaders;
};
export type RevokeVenueKeyResult = VenueKeyAnswer;
export type RevokeVenueKeyPath = {
    /**
     * Id of the key, in either case.
     * @format uuid
     */
    keyId: string;
};
export type RevokeVenueKeyHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type RevokeVenueKeyResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type RevokeVenueKeyVariables = {
    path: RevokeVenueKeyPath;
    headers?: RevokeVenueKeyHeaders;
};
export type ListTrackRecordKeysResult = TrackRecordKeys;
export type ListTrackRecordKeysHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListTrackRecordKeysResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type ListTrackRecordKeysVariables = {
    headers?: ListTrackRecordKeysHeaders;
};
export type ListInstrumentsResult = InstrumentsPage;
export type ListInstrumentsQuery = {
    /**
     * Only of this league.
     * @minLength 1
     * @maxLength 160
     */
    league?: string;
    /**
     * Only of the game with this id.
     * @minLength 1
     * @maxLength 160
     */
    gameId?: string;
    /**
     * Only of this type.
     */
    marketType?: MarketType;
    /**
     * Only of games in this status.
     */
    status?: GameStatus;
    /**
     * Whether it accepts orders now. It then has exactly one listing on venue_a, and its game is not cancelled. The market is open: not paused, closed or resolved, its opening time passed.
     */
    tradable?: boolean;
    /**
     * Whether venue_a has a live price of it now: a bid, an ask or both. Needs the venue-data switch.
     */
    priced?: boolean;
    /**
     * How many at most.
     * @minimum 1
     * @maximum 100
     */
    limit?: number;
    /**
     * The nextCursor of the page before. Opaque.
     * @minLength 1
     * @maxLength 256
     */
    cursor?: string;
};
export type ListInstrumentsHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListInstrumentsResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type ListInstrumentsVariables = {
    query?: ListInstrumentsQuery;
    headers?: ListInstrumentsHeaders;
};
export type SearchInstrumentsResult = InstrumentsFound;
export type SearchInstrumentsQuery = {
    /**
     * Words to look for, such as the name of a team; a typo is forgiven.
     * @minLength 1
     * @maxLength 100
     */
    q: string;
    /**
     * Only of this league.
     * @minLength 1
     * @maxLength 160
     */
    league?: string;
    /**
     * Only of games in this status.
     */
    status?: GameStatus;
    /**
     * How many at most.
     * @minimum 1
     * @maximum 25
     */
    limit?: number;
};
export type SearchInstrumentsHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type SearchInstrumentsResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type SearchInstrumentsVariables = {
    query: SearchInstrumentsQuery;
    headers?: SearchInstrumentsHeaders;
};
export type GetInstrumentResult = InstrumentAnswer;
export type GetInstrumentPath = {
    /**
     * Id or slug of the instrument, as GET /instruments lists them.
     * @minLength 1
     * @maxLength 160
     */
    ref: string;
};
export type GetInstrumentHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetInstrumentResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetInstrumentVariables = {
    path: GetInstrumentPath;
    headers?: GetInstrumentHeaders;
};
export type ListGamesResult = GamesPage;
export type ListGamesQuery = {
    /**
     * Only in this status.
     */
    status?: GameStatus;
    /**
     * Only of this league.
     * @minLength 1
     * @maxLength 160
     */
    league?: string;
    /**
     * Only games that start at this time or later: a date (its UTC midnight) or a date-time with a zone.
     * @maxLength 40
     */
    from?: string;
    /**
     * Only games that start before this time: a date (its UTC midnight) or a date-time with a zone.
     * @maxLength 40
     */
    to?: string;
    /**
     * How many at most.
     * @minimum 1
     * @maximum 100
     */
    limit?: number;
    /**
     * The nextCursor of the page before. Opaque.
     * @minLength 1
     * @maxLength 256
     */
    cursor?: string;
};
export type ListGamesHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListGamesResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type ListGamesVariables = {
    query?: ListGamesQuery;
    headers?: ListGamesHeaders;
};
export type GetGameResult = GameAnswer;
export type GetGamePath = {
    /**
     * Id or slug of the game, as GET /games lists them.
     * @minLength 1
     * @maxLength 160
     */
    ref: string;
};
export type GetGameHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetGameResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetGameVariables = {
    path: GetGamePath;
    headers?: GetGameHeaders;
};
export type ListQuotesResult = QuotesAnswer;
export type ListQuotesQuery = {
    /**
     * 1 to 20 instrument ids, as GET /instruments lists them, with commas between. One given twice counts once.
     * @minItems 1
     */
    ids: string[];
};
export type ListQuotesHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListQuotesResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type ListQuotesVariables = {
    query: ListQuotesQuery;
    headers?: ListQuotesHeaders;
};
export type GetQuoteResult = QuoteAnswer;
export type GetQuotePath = {
    /**
     * Id or slug of the instrument, as GET /instruments lists them.
     * @minLength 1
     * @maxLength 160
     */
    ref: string;
};
export type GetQuoteHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetQuoteResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetQuoteVariables = {
    path: GetQuotePath;
    headers?: GetQuoteHeaders;
};
export type GetBookResult = Book;
export type GetBookPath = {
    /**
     * Id or slug of the instrument, as GET /instruments lists them.
     * @minLength 1
     * @maxLength 160
     */
    ref: string;
};
export type GetBookHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetBookResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetBookVariables = {
    path: GetBookPath;
    headers?: GetBookHeaders;
};
export type GetHistoryResult = HistoryPage;
export type GetHistoryQuery = {
    /**
     * Prices are in its terms. Send exactly one of instrumentId and ticker.
     * @minLength 1
     * @maxLength 160
     */
    instrumentId?: string;
    /**
     * Ticker of a venue market; prices are for its yes.
     * @minLength 1
     * @maxLength 160
     */
    ticker?: string;
    /**
     * Whose prices.
     */
    venue?: "venue_a" | "venue_b" | "venue_c" | "venue_c_intl";
    /**
     * A date or date-time: rows at or after this time.
     * @minLength 1
     * @maxLength 64
     */
    from?: string;
    /**
     * A date or date-time: before then.
     * @minLength 1
     * @maxLength 64
     */
    to?: string;
    /**
     * By time.
     */
    order?: "asc" | "desc";
    /**
     * How many at most.
     * @minimum 1
     * @maximum 5000
     */
    limit?: number;
    /**
     * The nextCursor of the page before. Opaque.
     * @minLength 1
     * @maxLength 256
     */
    cursor?: string;
};
export type GetHistoryHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetHistoryResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetHistoryVariables = {
    query?: GetHistoryQuery;
    headers?: GetHistoryHeaders;
};
export type GetCandlesResult = CandlesPage;
export type GetCandlesQuery = {
    /**
     * Prices are in its terms. Send exactly one of instrumentId and ticker.
     * @minLength 1
     * @maxLength 160
     */
    instrumentId?: string;
    /**
     * Ticker of a venue market; prices are for its yes.
     * @minLength 1
     * @maxLength 160
     */
    ticker?: string;
    /**
     * Whose prices.
     */
    venue?: "venue_a" | "venue_b" | "venue_c" | "venue_c_intl";
    /**
     * A date or date-time: rows at or after this time.
     * @minLength 1
     * @maxLength 64
     */
    from?: string;
    /**
     * A date or date-time: before then.
     * @minLength 1
     * @maxLength 64
     */
    to?: string;
    /**
     * Aligned to UTC.
     */
    interval?: "1m" | "5m" | "15m" | "1h" | "1d";
    /**
     * How many at most.
     * @minimum 1
     * @maximum 1000
     */
    limit?: number;
    /**
     * The nextCursor of the page before. Opaque.
     * @minLength 1
     * @maxLength 256
     */
    cursor?: string;
};
export type GetCandlesHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetCandlesResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetCandlesVariables = {
    query?: GetCandlesQuery;
    headers?: GetCandlesHeaders;
};
export type GetHistoryAsOfResult = HistoryAsOf;
export type GetHistoryAsOfQuery = {
    /**
     * One to 20 ids, separated by commas.
     * @minItems 1
     */
    instrumentIds: string[];
    /**
     * A date or date-time: the moment to show.
     * @minLength 1
     * @maxLength 64
     */
    at: string;
    /**
     * Whose prices.
     */
    venue?: "venue_a" | "venue_b" | "venue_c" | "venue_c_intl";
};
export type GetHistoryAsOfHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetHistoryAsOfResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetHistoryAsOfVariables = {
    query: GetHistoryAsOfQuery;
    headers?: GetHistoryAsOfHeaders;
};
export type ExportHistoryResult = HistoryExport;
export type ExportHistoryQuery = {
    /**
     * Prices are in its terms. Send exactly one of instrumentId and ticker.
     * @minLength 1
     * @maxLength 160
     */
    instrumentId?: string;
    /**
     * Ticker of a venue market; prices are for its yes.
     * @minLength 1
     * @maxLength 160
     */
    ticker?: string;
    /**
     * Whose prices.
     */
    venue?: "venue_a" | "venue_b" | "venue_c" | "venue_c_intl";
    /**
     * A date or date-time: rows at or after this time.
     * @minLength 1
     * @maxLength 64
     */
    from?: string;
    /**
     * A date or date-time: before then.
     * @minLength 1
     * @maxLength 64
     */
    to?: string;
    /**
     * Data to export.
     */
    dataset?: "quotes" | "trades" | "candles";
    /**
     * Length of candles; default 1m.
     */
    interval?: "1m" | "5m" | "15m" | "1h" | "1d";
    /**
     * CSV has a header line.
     */
    format?: "csv" | "ndjson";
};
export type ExportHistoryHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ExportHistoryResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    contentDisposition?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type ExportHistoryVariables = {
    query?: ExportHistoryQuery;
    headers?: ExportHistoryHeaders;
};
export type GetAccountResult = AccountPage;
export type GetAccountHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetAccountResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetAccountVariables = {
    headers?: GetAccountHeaders;
};
export type ResetAccountResult = ResetResult;
export type ResetAccountHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ResetAccountResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type ResetAccountVariables = {
    headers?: ResetAccountHeaders;
};
export type RunBacktestResult = Backtest;
export type RunBacktestBody = BacktestRequest;
export type RunBacktestHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type RunBacktestResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type RunBacktestVariables = {
    body: RunBacktestBody;
    headers?: RunBacktestHeaders;
};
export type GetPortfolioResult = Portfolio;
export type GetPortfolioHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetPortfolioResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetPortfolioVariables = {
    headers?: GetPortfolioHeaders;
};
export type ListTradesResult = TradesPage;
export type ListTradesQuery = {
    /**
     * Only in this status.
     */
    status?: "open" | "closed" | "settled" | "void";
    /**
     * Only on this instrument. (ins_ and 12 characters of 0-9A-HJKMNP-TV-Z)
     * @pattern ^ins_[0-9A-HJKMNP-TV-Z]{12}$
     */
    instrumentId?: string;
    /**
     * Only trades that were opened at this time or later: a date (its UTC midnight) or a date-time with a zone.
     * @maxLength 40
     */
    from?: string;
    /**
     * Only trades that were opened before this time: a date (its UTC midnight) or a date-time with a zone.
     * @maxLength 40
     */
    to?: string;
    /**
     * How many at most.
     * @minimum 1
     * @maximum 200
     */
    limit?: number;
    /**
     * The nextCursor of the page before. Opaque.
     * @minLength 1
     * @maxLength 256
     */
    cursor?: string;
};
export type ListTradesHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListTradesResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type ListTradesVariables = {
    query?: ListTradesQuery;
    headers?: ListTradesHeaders;
};
export type GetEquityResult = Equity;
export type GetEquityQuery = {
    /**
     * all, or the days up to now that are shown: 1d to 3650d
     * @pattern ^(all|[0-9]{1,4}d)$
     */
    window?: string;
};
export type GetEquityHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetEquityResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetEquityVariables = {
    query?: GetEquityQuery;
    headers?: GetEquityHeaders;
};
export type ListEventsResult = EventsPage;
export type ListEventsQuery = {
    /**
     * Only events after this one. Default: from the first event. (the eventId of an event)
     * @pattern ^[0-9]{16}$
     */
    after?: string;
    /**
     * Events at most.
     * @minimum 1
     * @maximum 500
     */
    limit?: number;
};
export type ListEventsHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListEventsResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type ListEventsVariables = {
    query?: ListEventsQuery;
    headers?: ListEventsHeaders;
};
export type GetOrderReceiptResult = SignedReceipt;
export type GetOrderReceiptPath = {
    /**
     * Id of the order, in either case.
     * @format uuid
     */
    orderId: string;
};
export type GetOrderReceiptHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetOrderReceiptResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetOrderReceiptVariables = {
    path: GetOrderReceiptPath;
    headers?: GetOrderReceiptHeaders;
};
export type GetTradeReceiptResult = SignedReceipt;
export type GetTradeReceiptPath = {
    /**
     * Id of the trade, in either case.
     * @format uuid
     */
    tradeId: string;
};
export type GetTradeReceiptHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetTradeReceiptResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetTradeReceiptVariables = {
    path: GetTradeReceiptPath;
    headers?: GetTradeReceiptHeaders;
};
export type GetLeaderboardResult = Leaderboard;
export type GetLeaderboardQuery = {
    /**
     * all, or the days up to now in which trades were over: 1d to 3650d
     * @pattern ^(all|[0-9]{1,4}d)$
     */
    window?: string;
    /**
     * realistic: only trades placed under the preset `realistic`.
     */
    fills?: "all" | "realistic";
    /**
     * Measure to rank by, highest first.
     */
    kind?: "pnl" | "roi" | "net_worth";
    /**
     * How many at most.
     * @minimum 1
     * @maximum 100
     */
    limit?: number;
    /**
     * The nextCursor of the page before. Opaque.
     * @minLength 1
     * @maxLength 256
     */
    cursor?: string;
};
export type GetLeaderboardHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetLeaderboardResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetLeaderboardVariables = {
    query?: GetLeaderboardQuery;
    headers?: GetLeaderboardHeaders;
};
export type GetTraderResult = TraderAnswer;
export type GetTraderPath = {
    /**
     * A user id, or a display name: exactly, ignoring case.
     * @minLength 2
     */
    traderId: string;
};
export type GetTraderHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetTraderResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetTraderVariables = {
    path: GetTraderPath;
    headers?: GetTraderHeaders;
};
export type ListPicksResult = PicksPage;
export type ListPicksPath = {
    /**
     * A user id, or a display name: exactly, ignoring case.
     * @minLength 2
     */
    traderId: string;
};
export type ListPicksQuery = {
    /**
     * How many at most.
     * @minimum 1
     * @maximum 100
     */
    limit?: number;
    /**
     * The nextCursor of the page before. Opaque.
     * @minLength 1
     * @maxLength 256
     */
    cursor?: string;
};
export type ListPicksHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListPicksResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type ListPicksVariables = {
    path: ListPicksPath;
    query?: ListPicksQuery;
    headers?: ListPicksHeaders;
};
export type GetOwnEvalResult = OwnEval;
export type GetOwnEvalQuery = {
    /**
     * all, or the days up to now in which trades were over: 1d to 3650d
     * @pattern ^(all|[0-9]{1,4}d)$
     */
    window?: string;
    /**
     * realistic: only trades placed under the preset `realistic`.
     */
    fills?: "all" | "realistic";
};
export type GetOwnEvalHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetOwnEvalResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetOwnEvalVariables = {
    query?: GetOwnEvalQuery;
    headers?: GetOwnEvalHeaders;
};
export type GetVerdictResult = Verdict;
export type GetVerdictQuery = {
    /**
     * all, or the days up to now in which trades were over: 1d to 3650d
     * @pattern ^(all|[0-9]{1,4}d)$
     */
    window?: string;
    /**
     * realistic: only trades placed under the preset `realistic`.
     */
    fills?: "all" | "realistic";
};
export type GetVerdictHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetVerdictResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetVerdictVariables = {
    query?: GetVerdictQuery;
    headers?: GetVerdictHeaders;
};
export type GetEvalResult = EvalBoard;
export type GetEvalQuery = {
    /**
     * all, or the days up to now in which trades were over: 1d to 3650d
     * @pattern ^(all|[0-9]{1,4}d)$
     */
    window?: string;
    /**
     * realistic: only trades placed under the preset `realistic`.
     */
    fills?: "all" | "realistic";
    /**
     * Score to average.
     */
    metric?: "brier" | "log_loss" | "clv" | "pnl";
    /**
     * How many at most.
     * @minimum 1
     * @maximum 100
     */
    limit?: number;
    /**
     * The nextCursor of the page before. Opaque.
     * @minLength 1
     * @maxLength 256
     */
    cursor?: string;
};
export type GetEvalHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetEvalResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetEvalVariables = {
    query?: GetEvalQuery;
    headers?: GetEvalHeaders;
};
export type GetTrackRecordResult = SignedTrackRecord;
export type GetTrackRecordPath = {
    /**
     * A user id, or a display name: exactly, ignoring case.
     * @minLength 2
     */
    traderId: string;
};
export type GetTrackRecordQuery = {
    /**
     * Always 90.
     * @minimum 90
     * @maximum 90
     */
    days?: number;
    /**
     * realistic: only trades placed under the preset `realistic`.
     */
    fills?: "all" | "realistic";
};
export type GetTrackRecordHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetTrackRecordResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetTrackRecordVariables = {
    path: GetTrackRecordPath;
    query?: GetTrackRecordQuery;
    headers?: GetTrackRecordHeaders;
};
export type ListOrdersResult = OrdersPage;
export type ListOrdersQuery = {
    /**
     * Only in this status.
     */
    status?: OrderStatus;
    /**
     * Only on this instrument. (ins_ and 12 characters of 0-9A-HJKMNP-TV-Z)
     * @pattern ^ins_[0-9A-HJKMNP-TV-Z]{12}$
     */
    instrumentId?: string;
    /**
     * Only the order with this key. (1 to 128 visible ASCII characters)
     * @pattern ^[!-~]{1,128}$
     */
    idempotencyKey?: string;
    /**
     * Only orders that were placed at this time or later: a date (its UTC midnight) or a date-time with a zone.
     * @maxLength 40
     */
    from?: string;
    /**
     * Only orders that were placed before this time: a date (its UTC midnight) or a date-time with a zone.
     * @maxLength 40
     */
    to?: string;
    /**
     * How many at most.
     * @minimum 1
     * @maximum 200
     */
    limit?: number;
    /**
     * The nextCursor of the page before. Opaque.
     * @minLength 1
     * @maxLength 256
     */
    cursor?: string;
};
export type ListOrdersHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListOrdersResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type ListOrdersVariables = {
    query?: ListOrdersQuery;
    headers?: ListOrdersHeaders;
};
export type PlaceOrderResult = OrderPlacement;
export type PlaceOrderBody = OrderRequest;
export type PlaceOrderHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type PlaceOrderResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type PlaceOrderVariables = {
    body: PlaceOrderBody;
    headers?: PlaceOrderHeaders;
};
export type CancelOrdersResult = CanceledOrders;
export type CancelOrdersQuery = {
    /**
     * Only those on this instrument. (ins_ and 12 characters of 0-9A-HJKMNP-TV-Z)
     * @pattern ^ins_[0-9A-HJKMNP-TV-Z]{12}$
     */
    instrumentId?: string;
};
export type CancelOrdersHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type CancelOrdersResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type CancelOrdersVariables = {
    query?: CancelOrdersQuery;
    headers?: CancelOrdersHeaders;
};
export type GetOrderResult = OrderAnswer;
export type GetOrderPath = {
    /**
     * Id of the order, in either case.
     * @format uuid
     */
    orderId: string;
};
export type GetOrderHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetOrderResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type GetOrderVariables = {
    path: GetOrderPath;
    headers?: GetOrderHeaders;
};
export type CancelOrderResult = OrderAnswer;
export type CancelOrderPath = {
    /**
     * Id of the order, in either case.
     * @format uuid
     */
    orderId: string;
};
export type CancelOrderHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type CancelOrderResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type CancelOrderVariables = {
    path: CancelOrderPath;
    headers?: CancelOrderHeaders;
};
export type AmendOrderResult = OrderAnswer;
export type AmendOrderPath = {
    /**
     * Id of the order, in either case.
     * @format uuid
     */
    orderId: string;
};
export type AmendOrderBody = OrderChange;
export type AmendOrderHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type AmendOrderResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type AmendOrderVariables = {
    path: AmendOrderPath;
    body: AmendOrderBody;
    headers?: AmendOrderHeaders;
};
export type ListOrderGroupsResult = OrderGroups;
export type ListOrderGroupsHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type ListOrderGroupsResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type ListOrderGroupsVariables = {
    headers?: ListOrderGroupsHeaders;
};
export type MakeOrderGroupResult = OrderGroupAnswer;
export type MakeOrderGroupBody = OrderGroupRequest;
export type MakeOrderGroupHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type MakeOrderGroupResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type MakeOrderGroupVariables = {
    body: MakeOrderGroupBody;
    headers?: MakeOrderGroupHeaders;
};
export type RemoveOrderGroupResult = CanceledOrders;
export type RemoveOrderGroupPath = {
    /**
     * Id of the order group, in either case.
     * @format uuid
     */
    orderGroupId: string;
};
export type RemoveOrderGroupHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type RemoveOrderGroupResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type RemoveOrderGroupVariables = {
    path: RemoveOrderGroupPath;
    headers?: RemoveOrderGroupHeaders;
};
export type PreviewOrderResult = OrderPreview;
export type PreviewOrderBody = OrderRequest;
export type PreviewOrderHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type PreviewOrderResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type PreviewOrderVariables = {
    body: PreviewOrderBody;
    headers?: PreviewOrderHeaders;
};
export type PlaceOrdersResult = OrderBatchResults;
export type PlaceOrdersBody = OrderBatch;
export type PlaceOrdersHeaders = {
    /**
     * Id of an organization: the call uses its paper sandbox instead of the caller's own account.
     * @format uuid
     */
    "X-Service-Org"?: string;
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type PlaceOrdersResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
};
export type PlaceOrdersVariables = {
    body: PlaceOrdersBody;
    headers?: PlaceOrdersHeaders;
};
export type GetDescriptionResult = OpenApiDocument;
export type GetDescriptionHeaders = {
    /**
     * Returned on the response; default: a new id.
     * @pattern ^[!-~]{1,128}$
     */
    "X-Request-Id"?: string;
};
export type GetDescriptionResponseHeaders = {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
};
export type GetDescriptionVariables = {
    headers?: GetDescriptionHeaders;
};
/**
 * Per-operation `args`/`result` shapes (plus `kind: 'sse'` for event streams) — the
 * type-level companion of `OPERATIONS` that gives `createClient<Ops>` its typed methods.
 */
export type Ops = {
    getStatus: {
        args: {
            headers?: GetStatusHeaders;
        };
        result: GetStatusResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    getMe: {
        args: {
            headers?: GetMeHeaders;
        };
        result: GetMeResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    changeMe: {
        args: {
            body: ChangeMeBody;
            headers?: ChangeMeHeaders;
        };
        result: ChangeMeResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    getUsage: {
        args: {
            headers?: GetUsageHeaders;
        };
        result: GetUsageResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    listOrganizations: {
        args: {
            headers?: ListOrganizationsHeaders;
        };
        result: ListOrganizationsResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    changeOrganization: {
        args: {
            path: ChangeOrganizationPath;
            body: ChangeOrganizationBody;
            headers?: ChangeOrganizationHeaders;
        };
        result: ChangeOrganizationResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    listSessions: {
        args: {
            headers?: ListSessionsHeaders;
        };
        result: ListSessionsResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    endSession: {
        args: {
            path: EndSessionPath;
            headers?: EndSessionHeaders;
        };
        result: EndSessionResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    listKeys: {
        args: {
            headers?: ListKeysHeaders;
        };
        result: ListKeysResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    createKey: {
        args: {
            body: CreateKeyBody;
            headers?: CreateKeyHeaders;
        };
        result: CreateKeyResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    rotateKey: {
        args: {
            path: RotateKeyPath;
            body?: RotateKeyBody;
            headers?: RotateKeyHeaders;
        };
        result: RotateKeyResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    revokeKey: {
        args: {
            path: RevokeKeyPath;
            headers?: RevokeKeyHeaders;
        };
        result: RevokeKeyResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    listVenueKeys: {
        args: {
            headers?: ListVenueKeysHeaders;
        };
        result: ListVenueKeysResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    createVenueKey: {
        args: {
            body?: CreateVenueKeyBody;
            headers?: CreateVenueKeyHeaders;
        };
        result: CreateVenueKeyResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    revokeVenueKey: {
        args: {
            path: RevokeVenueKeyPath;
            headers?: RevokeVenueKeyHeaders;
        };
        result: RevokeVenueKeyResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    listTrackRecordKeys: {
        args: {
            headers?: ListTrackRecordKeysHeaders;
        };
        result: ListTrackRecordKeysResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    listInstruments: {
        args: {
            query?: ListInstrumentsQuery;
            headers?: ListInstrumentsHeaders;
        };
        result: ListInstrumentsResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    searchInstruments: {
        args: {
            query: SearchInstrumentsQuery;
            headers?: SearchInstrumentsHeaders;
        };
        result: SearchInstrumentsResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getInstrument: {
        args: {
            path: GetInstrumentPath;
            headers?: GetInstrumentHeaders;
        };
        result: GetInstrumentResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    listGames: {
        args: {
            query?: ListGamesQuery;
            headers?: ListGamesHeaders;
        };
        result: ListGamesResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getGame: {
        args: {
            path: GetGamePath;
            headers?: GetGameHeaders;
        };
        result: GetGameResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    listQuotes: {
        args: {
            query: ListQuotesQuery;
            headers?: ListQuotesHeaders;
        };
        result: ListQuotesResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getQuote: {
        args: {
            path: GetQuotePath;
            headers?: GetQuoteHeaders;
        };
        result: GetQuoteResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getBook: {
        args: {
            path: GetBookPath;
            headers?: GetBookHeaders;
        };
        result: GetBookResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getHistory: {
        args: {
            query?: GetHistoryQuery;
            headers?: GetHistoryHeaders;
        };
        result: GetHistoryResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getCandles: {
        args: {
            query?: GetCandlesQuery;
            headers?: GetCandlesHeaders;
        };
        result: GetCandlesResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getHistoryAsOf: {
        args: {
            query: GetHistoryAsOfQuery;
            headers?: GetHistoryAsOfHeaders;
        };
        result: GetHistoryAsOfResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    exportHistory: {
        args: {
            query?: ExportHistoryQuery;
            headers?: ExportHistoryHeaders;
        };
        result: ExportHistoryResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            contentDisposition?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getAccount: {
        args: {
            headers?: GetAccountHeaders;
        };
        result: GetAccountResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    resetAccount: {
        args: {
            headers?: ResetAccountHeaders;
        };
        result: ResetAccountResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
    runBacktest: {
        args: {
            body: RunBacktestBody;
            headers?: RunBacktestHeaders;
        };
        result: RunBacktestResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getPortfolio: {
        args: {
            headers?: GetPortfolioHeaders;
        };
        result: GetPortfolioResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    listTrades: {
        args: {
            query?: ListTradesQuery;
            headers?: ListTradesHeaders;
        };
        result: ListTradesResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getEquity: {
        args: {
            query?: GetEquityQuery;
            headers?: GetEquityHeaders;
        };
        result: GetEquityResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    listEvents: {
        args: {
            query?: ListEventsQuery;
            headers?: ListEventsHeaders;
        };
        result: ListEventsResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getOrderReceipt: {
        args: {
            path: GetOrderReceiptPath;
            headers?: GetOrderReceiptHeaders;
        };
        result: GetOrderReceiptResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getTradeReceipt: {
        args: {
            path: GetTradeReceiptPath;
            headers?: GetTradeReceiptHeaders;
        };
        result: GetTradeReceiptResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getLeaderboard: {
        args: {
            query?: GetLeaderboardQuery;
            headers?: GetLeaderboardHeaders;
        };
        result: GetLeaderboardResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getTrader: {
        args: {
            path: GetTraderPath;
            headers?: GetTraderHeaders;
        };
        result: GetTraderResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    listPicks: {
        args: {
            path: ListPicksPath;
            query?: ListPicksQuery;
            headers?: ListPicksHeaders;
        };
        result: ListPicksResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getOwnEval: {
        args: {
            query?: GetOwnEvalQuery;
            headers?: GetOwnEvalHeaders;
        };
        result: GetOwnEvalResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getVerdict: {
        args: {
            query?: GetVerdictQuery;
            headers?: GetVerdictHeaders;
        };
        result: GetVerdictResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getEval: {
        args: {
            query?: GetEvalQuery;
            headers?: GetEvalHeaders;
        };
        result: GetEvalResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getTrackRecord: {
        args: {
            path: GetTrackRecordPath;
            query?: GetTrackRecordQuery;
            headers?: GetTrackRecordHeaders;
        };
        result: GetTrackRecordResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    listOrders: {
        args: {
            query?: ListOrdersQuery;
            headers?: ListOrdersHeaders;
        };
        result: ListOrdersResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    placeOrder: {
        args: {
            body: PlaceOrderBody;
            headers?: PlaceOrderHeaders;
        };
        result: PlaceOrderResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    cancelOrders: {
        args: {
            query?: CancelOrdersQuery;
            headers?: CancelOrdersHeaders;
        };
        result: CancelOrdersResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getOrder: {
        args: {
            path: GetOrderPath;
            headers?: GetOrderHeaders;
        };
        result: GetOrderResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    cancelOrder: {
        args: {
            path: CancelOrderPath;
            headers?: CancelOrderHeaders;
        };
        result: CancelOrderResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    amendOrder: {
        args: {
            path: AmendOrderPath;
            body: AmendOrderBody;
            headers?: AmendOrderHeaders;
        };
        result: AmendOrderResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    listOrderGroups: {
        args: {
            headers?: ListOrderGroupsHeaders;
        };
        result: ListOrderGroupsResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    makeOrderGroup: {
        args: {
            body: MakeOrderGroupBody;
            headers?: MakeOrderGroupHeaders;
        };
        result: MakeOrderGroupResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    removeOrderGroup: {
        args: {
            path: RemoveOrderGroupPath;
            headers?: RemoveOrderGroupHeaders;
        };
        result: RemoveOrderGroupResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    previewOrder: {
        args: {
            body: PreviewOrderBody;
            headers?: PreviewOrderHeaders;
        };
        result: PreviewOrderResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    placeOrders: {
        args: {
            body: PlaceOrdersBody;
            headers?: PlaceOrdersHeaders;
        };
        result: PlaceOrdersResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
            servicePlan: string;
            serviceQuotaLimit: number;
            serviceQuotaRemaining: number;
            serviceQuotaReset: number;
        };
    };
    getDescription: {
        args: {
            headers?: GetDescriptionHeaders;
        };
        result: GetDescriptionResult;
        headers: {
            xRequestId: string;
            cacheControl: string;
            ratelimitLimit: number;
            ratelimitRemaining: number;
            ratelimitReset: number;
            ratelimitPolicy: string;
            ratelimit: string;
            xContentTypeOptions: string;
            referrerPolicy: string;
            crossOriginResourcePolicy: string;
            contentSecurityPolicy: string;
            strictTransportSecurity?: string;
        };
    };
};
/**
 * The wire-shape descriptor for every operation, keyed by operationId — the data the
 * runtime routes requests by. Also minification-safe static metadata (method, path,
 * tags) for cache keys, tracing span names, and request logging.
 */
export declare const OPERATIONS: {
    readonly getStatus: {
        readonly id: "getStatus";
        readonly method: "GET";
        readonly path: "/status";
        readonly tags: readonly ["Service"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly getMe: {
        readonly id: "getMe";
        readonly method: "GET";
        readonly path: "/me";
        readonly tags: readonly ["Service"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly changeMe: {
        readonly id: "changeMe";
        readonly method: "PATCH";
        readonly path: "/me";
        readonly tags: readonly ["Service"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly body: {
            readonly contentType: "application/json";
        };
        readonly security: readonly [readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly getUsage: {
        readonly id: "getUsage";
        readonly method: "GET";
        readonly path: "/usage";
        readonly tags: readonly ["Service"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly listOrganizations: {
        readonly id: "listOrganizations";
        readonly method: "GET";
        readonly path: "/organizations";
        readonly tags: readonly ["Service"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly changeOrganization: {
        readonly id: "changeOrganization";
        readonly method: "PATCH";
        readonly path: "/organizations/{organizationId}";
        readonly tags: readonly ["Service"];
        readonly params: readonly [{
            readonly name: "organizationId";
            readonly in: "path";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly body: {
            readonly contentType: "application/json";
        };
        readonly security: readonly [readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly listSessions: {
        readonly id: "listSessions";
        readonly method: "GET";
        readonly path: "/me/sessions";
        readonly tags: readonly ["Service"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly endSession: {
        readonly id: "endSession";
        readonly method: "DELETE";
        readonly path: "/me/sessions/{id}";
        readonly tags: readonly ["Service"];
        readonly params: readonly [{
            readonly name: "id";
            readonly in: "path";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly listKeys: {
        readonly id: "listKeys";
        readonly method: "GET";
        readonly path: "/api_keys";
        readonly tags: readonly ["Keys"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly createKey: {
        readonly id: "createKey";
        readonly method: "POST";
        readonly path: "/api_keys";
        readonly tags: readonly ["Keys"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly body: {
            readonly contentType: "application/json";
        };
        readonly security: readonly [readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly rotateKey: {
        readonly id: "rotateKey";
        readonly method: "POST";
        readonly path: "/api_keys/{id}/rotate";
        readonly tags: readonly ["Keys"];
        readonly params: readonly [{
            readonly name: "id";
            readonly in: "path";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly body: {
            readonly contentType: "application/json";
        };
        readonly security: readonly [readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly revokeKey: {
        readonly id: "revokeKey";
        readonly method: "DELETE";
        readonly path: "/api_keys/{id}";
        readonly tags: readonly ["Keys"];
        readonly params: readonly [{
            readonly name: "id";
            readonly in: "path";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly listVenueKeys: {
        readonly id: "listVenueKeys";
        readonly method: "GET";
        readonly path: "/venue_keys";
        readonly tags: readonly ["Keys"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly createVenueKey: {
        readonly id: "createVenueKey";
        readonly method: "POST";
        readonly path: "/venue_keys";
        readonly tags: readonly ["Keys"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly body: {
            readonly contentType: "application/json";
        };
        readonly security: readonly [readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly revokeVenueKey: {
        readonly id: "revokeVenueKey";
        readonly method: "DELETE";
        readonly path: "/venue_keys/{keyId}";
        readonly tags: readonly ["Keys"];
        readonly params: readonly [{
            readonly name: "keyId";
            readonly in: "path";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly listTrackRecordKeys: {
        readonly id: "listTrackRecordKeys";
        readonly method: "GET";
        readonly path: "/track-record/keys";
        readonly tags: readonly ["Records"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly listInstruments: {
        readonly id: "listInstruments";
        readonly method: "GET";
        readonly path: "/instruments";
        readonly tags: readonly ["Markets"];
        readonly params: readonly [{
            readonly name: "league";
            readonly in: "query";
        }, {
            readonly name: "gameId";
            readonly in: "query";
        }, {
            readonly name: "marketType";
            readonly in: "query";
        }, {
            readonly name: "status";
            readonly in: "query";
        }, {
            readonly name: "tradable";
            readonly in: "query";
        }, {
            readonly name: "priced";
            readonly in: "query";
        }, {
            readonly name: "limit";
            readonly in: "query";
        }, {
            readonly name: "cursor";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly searchInstruments: {
        readonly id: "searchInstruments";
        readonly method: "GET";
        readonly path: "/instruments/search";
        readonly tags: readonly ["Markets"];
        readonly params: readonly [{
            readonly name: "q";
            readonly in: "query";
        }, {
            readonly name: "league";
            readonly in: "query";
        }, {
            readonly name: "status";
            readonly in: "query";
        }, {
            readonly name: "limit";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getInstrument: {
        readonly id: "getInstrument";
        readonly method: "GET";
        readonly path: "/instruments/{ref}";
        readonly tags: readonly ["Markets"];
        readonly params: readonly [{
            readonly name: "ref";
            readonly in: "path";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly listGames: {
        readonly id: "listGames";
        readonly method: "GET";
        readonly path: "/games";
        readonly tags: readonly ["Markets"];
        readonly params: readonly [{
            readonly name: "status";
            readonly in: "query";
        }, {
            readonly name: "league";
            readonly in: "query";
        }, {
            readonly name: "from";
            readonly in: "query";
        }, {
            readonly name: "to";
            readonly in: "query";
        }, {
            readonly name: "limit";
            readonly in: "query";
        }, {
            readonly name: "cursor";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getGame: {
        readonly id: "getGame";
        readonly method: "GET";
        readonly path: "/games/{ref}";
        readonly tags: readonly ["Markets"];
        readonly params: readonly [{
            readonly name: "ref";
            readonly in: "path";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly listQuotes: {
        readonly id: "listQuotes";
        readonly method: "GET";
        readonly path: "/quotes";
        readonly tags: readonly ["Markets"];
        readonly params: readonly [{
            readonly name: "ids";
            readonly in: "query";
            readonly style: "form";
            readonly explode: false;
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getQuote: {
        readonly id: "getQuote";
        readonly method: "GET";
        readonly path: "/instruments/{ref}/quote";
        readonly tags: readonly ["Markets"];
        readonly params: readonly [{
            readonly name: "ref";
            readonly in: "path";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getBook: {
        readonly id: "getBook";
        readonly method: "GET";
        readonly path: "/instruments/{ref}/book";
        readonly tags: readonly ["Markets"];
        readonly params: readonly [{
            readonly name: "ref";
            readonly in: "path";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getHistory: {
        readonly id: "getHistory";
        readonly method: "GET";
        readonly path: "/history";
        readonly tags: readonly ["History"];
        readonly params: readonly [{
            readonly name: "instrumentId";
            readonly in: "query";
        }, {
            readonly name: "ticker";
            readonly in: "query";
        }, {
            readonly name: "venue";
            readonly in: "query";
        }, {
            readonly name: "from";
            readonly in: "query";
        }, {
            readonly name: "to";
            readonly in: "query";
        }, {
            readonly name: "order";
            readonly in: "query";
        }, {
            readonly name: "limit";
            readonly in: "query";
        }, {
            readonly name: "cursor";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getCandles: {
        readonly id: "getCandles";
        readonly method: "GET";
        readonly path: "/history/candles";
        readonly tags: readonly ["History"];
        readonly params: readonly [{
            readonly name: "instrumentId";
            readonly in: "query";
        }, {
            readonly name: "ticker";
            readonly in: "query";
        }, {
            readonly name: "venue";
            readonly in: "query";
        }, {
            readonly name: "from";
            readonly in: "query";
        }, {
            readonly name: "to";
            readonly in: "query";
        }, {
            readonly name: "interval";
            readonly in: "query";
        }, {
            readonly name: "limit";
            readonly in: "query";
        }, {
            readonly name: "cursor";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getHistoryAsOf: {
        readonly id: "getHistoryAsOf";
        readonly method: "GET";
        readonly path: "/history/as_of";
        readonly tags: readonly ["History"];
        readonly params: readonly [{
            readonly name: "instrumentIds";
            readonly in: "query";
            readonly style: "form";
            readonly explode: false;
        }, {
            readonly name: "at";
            readonly in: "query";
        }, {
            readonly name: "venue";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly exportHistory: {
        readonly id: "exportHistory";
        readonly method: "GET";
        readonly path: "/history/export";
        readonly tags: readonly ["History"];
        readonly params: readonly [{
            readonly name: "instrumentId";
            readonly in: "query";
        }, {
            readonly name: "ticker";
            readonly in: "query";
        }, {
            readonly name: "venue";
            readonly in: "query";
        }, {
            readonly name: "from";
            readonly in: "query";
        }, {
            readonly name: "to";
            readonly in: "query";
        }, {
            readonly name: "dataset";
            readonly in: "query";
        }, {
            readonly name: "interval";
            readonly in: "query";
        }, {
            readonly name: "format";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "content-disposition";
            readonly key: "contentDisposition";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getAccount: {
        readonly id: "getAccount";
        readonly method: "GET";
        readonly path: "/account";
        readonly tags: readonly ["Portfolio"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly resetAccount: {
        readonly id: "resetAccount";
        readonly method: "POST";
        readonly path: "/account/reset";
        readonly tags: readonly ["Portfolio"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
    readonly runBacktest: {
        readonly id: "runBacktest";
        readonly method: "POST";
        readonly path: "/backtest";
        readonly tags: readonly ["Backtest"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly body: {
            readonly contentType: "application/json";
        };
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getPortfolio: {
        readonly id: "getPortfolio";
        readonly method: "GET";
        readonly path: "/portfolio";
        readonly tags: readonly ["Portfolio"];
        readonly params: readonly [{
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly listTrades: {
        readonly id: "listTrades";
        readonly method: "GET";
        readonly path: "/portfolio/trades";
        readonly tags: readonly ["Portfolio"];
        readonly params: readonly [{
            readonly name: "status";
            readonly in: "query";
        }, {
            readonly name: "instrumentId";
            readonly in: "query";
        }, {
            readonly name: "from";
            readonly in: "query";
        }, {
            readonly name: "to";
            readonly in: "query";
        }, {
            readonly name: "limit";
            readonly in: "query";
        }, {
            readonly name: "cursor";
            readonly in: "query";
        }, {
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getEquity: {
        readonly id: "getEquity";
        readonly method: "GET";
        readonly path: "/portfolio/equity";
        readonly tags: readonly ["Portfolio"];
        readonly params: readonly [{
            readonly name: "window";
            readonly in: "query";
        }, {
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly listEvents: {
        readonly id: "listEvents";
        readonly method: "GET";
        readonly path: "/portfolio/events";
        readonly tags: readonly ["Portfolio"];
        readonly params: readonly [{
            readonly name: "after";
            readonly in: "query";
        }, {
            readonly name: "limit";
            readonly in: "query";
        }, {
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getOrderReceipt: {
        readonly id: "getOrderReceipt";
        readonly method: "GET";
        readonly path: "/portfolio/orders/{orderId}/receipt";
        readonly tags: readonly ["Portfolio"];
        readonly params: readonly [{
            readonly name: "orderId";
            readonly in: "path";
        }, {
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getTradeReceipt: {
        readonly id: "getTradeReceipt";
        readonly method: "GET";
        readonly path: "/portfolio/trades/{tradeId}/receipt";
        readonly tags: readonly ["Portfolio"];
        readonly params: readonly [{
            readonly name: "tradeId";
            readonly in: "path";
        }, {
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getLeaderboard: {
        readonly id: "getLeaderboard";
        readonly method: "GET";
        readonly path: "/leaderboard";
        readonly tags: readonly ["Records"];
        readonly params: readonly [{
            readonly name: "window";
            readonly in: "query";
        }, {
            readonly name: "fills";
            readonly in: "query";
        }, {
            readonly name: "kind";
            readonly in: "query";
        }, {
            readonly name: "limit";
            readonly in: "query";
        }, {
            readonly name: "cursor";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getTrader: {
        readonly id: "getTrader";
        readonly method: "GET";
        readonly path: "/traders/{traderId}";
        readonly tags: readonly ["Records"];
        readonly params: readonly [{
            readonly name: "traderId";
            readonly in: "path";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly listPicks: {
        readonly id: "listPicks";
        readonly method: "GET";
        readonly path: "/traders/{traderId}/picks";
        readonly tags: readonly ["Records"];
        readonly params: readonly [{
            readonly name: "traderId";
            readonly in: "path";
        }, {
            readonly name: "limit";
            readonly in: "query";
        }, {
            readonly name: "cursor";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getOwnEval: {
        readonly id: "getOwnEval";
        readonly method: "GET";
        readonly path: "/me/eval";
        readonly tags: readonly ["Records"];
        readonly params: readonly [{
            readonly name: "window";
            readonly in: "query";
        }, {
            readonly name: "fills";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getVerdict: {
        readonly id: "getVerdict";
        readonly method: "GET";
        readonly path: "/me/verdict";
        readonly tags: readonly ["Records"];
        readonly params: readonly [{
            readonly name: "window";
            readonly in: "query";
        }, {
            readonly name: "fills";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getEval: {
        readonly id: "getEval";
        readonly method: "GET";
        readonly path: "/eval";
        readonly tags: readonly ["Records"];
        readonly params: readonly [{
            readonly name: "window";
            readonly in: "query";
        }, {
            readonly name: "fills";
            readonly in: "query";
        }, {
            readonly name: "metric";
            readonly in: "query";
        }, {
            readonly name: "limit";
            readonly in: "query";
        }, {
            readonly name: "cursor";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getTrackRecord: {
        readonly id: "getTrackRecord";
        readonly method: "GET";
        readonly path: "/traders/{traderId}/track-record";
        readonly tags: readonly ["Records"];
        readonly params: readonly [{
            readonly name: "traderId";
            readonly in: "path";
        }, {
            readonly name: "days";
            readonly in: "query";
        }, {
            readonly name: "fills";
            readonly in: "query";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly listOrders: {
        readonly id: "listOrders";
        readonly method: "GET";
        readonly path: "/portfolio/orders";
        readonly tags: readonly ["Portfolio"];
        readonly params: readonly [{
            readonly name: "status";
            readonly in: "query";
        }, {
            readonly name: "instrumentId";
            readonly in: "query";
        }, {
            readonly name: "idempotencyKey";
            readonly in: "query";
        }, {
            readonly name: "from";
            readonly in: "query";
        }, {
            readonly name: "to";
            readonly in: "query";
        }, {
            readonly name: "limit";
            readonly in: "query";
        }, {
            readonly name: "cursor";
            readonly in: "query";
        }, {
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly placeOrder: {
        readonly id: "placeOrder";
        readonly method: "POST";
        readonly path: "/portfolio/orders";
        readonly tags: readonly ["Trading"];
        readonly params: readonly [{
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly body: {
            readonly contentType: "application/json";
        };
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly cancelOrders: {
        readonly id: "cancelOrders";
        readonly method: "DELETE";
        readonly path: "/portfolio/orders";
        readonly tags: readonly ["Trading"];
        readonly params: readonly [{
            readonly name: "instrumentId";
            readonly in: "query";
        }, {
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getOrder: {
        readonly id: "getOrder";
        readonly method: "GET";
        readonly path: "/portfolio/orders/{orderId}";
        readonly tags: readonly ["Portfolio"];
        readonly params: readonly [{
            readonly name: "orderId";
            readonly in: "path";
        }, {
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly cancelOrder: {
        readonly id: "cancelOrder";
        readonly method: "DELETE";
        readonly path: "/portfolio/orders/{orderId}";
        readonly tags: readonly ["Trading"];
        readonly params: readonly [{
            readonly name: "orderId";
            readonly in: "path";
        }, {
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly amendOrder: {
        readonly id: "amendOrder";
        readonly method: "PATCH";
        readonly path: "/portfolio/orders/{orderId}";
        readonly tags: readonly ["Trading"];
        readonly params: readonly [{
            readonly name: "orderId";
            readonly in: "path";
        }, {
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly body: {
            readonly contentType: "application/json";
        };
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly listOrderGroups: {
        readonly id: "listOrderGroups";
        readonly method: "GET";
        readonly path: "/portfolio/order_groups";
        readonly tags: readonly ["Portfolio"];
        readonly params: readonly [{
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly makeOrderGroup: {
        readonly id: "makeOrderGroup";
        readonly method: "POST";
        readonly path: "/portfolio/order_groups";
        readonly tags: readonly ["Trading"];
        readonly params: readonly [{
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly body: {
            readonly contentType: "application/json";
        };
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly removeOrderGroup: {
        readonly id: "removeOrderGroup";
        readonly method: "DELETE";
        readonly path: "/portfolio/order_groups/{orderGroupId}";
        readonly tags: readonly ["Trading"];
        readonly params: readonly [{
            readonly name: "orderGroupId";
            readonly in: "path";
        }, {
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly previewOrder: {
        readonly id: "previewOrder";
        readonly method: "POST";
        readonly path: "/portfolio/orders/preview";
        readonly tags: readonly ["Trading"];
        readonly params: readonly [{
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly body: {
            readonly contentType: "application/json";
        };
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly placeOrders: {
        readonly id: "placeOrders";
        readonly method: "POST";
        readonly path: "/portfolio/orders/batch";
        readonly tags: readonly ["Trading"];
        readonly params: readonly [{
            readonly name: "X-Service-Org";
            readonly in: "header";
        }, {
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly body: {
            readonly contentType: "application/json";
        };
        readonly security: readonly [readonly [{
            readonly scheme: "bearerKey";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "serviceKey";
            readonly kind: "apiKey";
            readonly name: "x-service-key";
            readonly in: "header";
        }], readonly [{
            readonly scheme: "sessionBearer";
            readonly kind: "bearer";
        }], readonly [{
            readonly scheme: "sessionCookie";
            readonly kind: "apiKey";
            readonly name: "sb-access-token";
            readonly in: "cookie";
        }]];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }, {
            readonly name: "service-plan";
            readonly key: "servicePlan";
            readonly type: "string";
        }, {
            readonly name: "service-quota-limit";
            readonly key: "serviceQuotaLimit";
            readonly type: "number";
        }, {
            readonly name: "service-quota-remaining";
            readonly key: "serviceQuotaRemaining";
            readonly type: "number";
        }, {
            readonly name: "service-quota-reset";
            readonly key: "serviceQuotaReset";
            readonly type: "number";
        }];
    };
    readonly getDescription: {
        readonly id: "getDescription";
        readonly method: "GET";
        readonly path: "/openapi.json";
        readonly tags: readonly ["Service"];
        readonly params: readonly [{
            readonly name: "X-Request-Id";
            readonly in: "header";
        }];
        readonly responseHeaders: readonly [{
            readonly name: "x-request-id";
            readonly key: "xRequestId";
            readonly type: "string";
        }, {
            readonly name: "cache-control";
            readonly key: "cacheControl";
            readonly type: "string";
        }, {
            readonly name: "ratelimit-limit";
            readonly key: "ratelimitLimit";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-remaining";
            readonly key: "ratelimitRemaining";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-reset";
            readonly key: "ratelimitReset";
            readonly type: "number";
        }, {
            readonly name: "ratelimit-policy";
            readonly key: "ratelimitPolicy";
            readonly type: "string";
        }, {
            readonly name: "ratelimit";
            readonly key: "ratelimit";
            readonly type: "string";
        }, {
            readonly name: "x-content-type-options";
            readonly key: "xContentTypeOptions";
            readonly type: "string";
        }, {
            readonly name: "referrer-policy";
            readonly key: "referrerPolicy";
            readonly type: "string";
        }, {
            readonly name: "cross-origin-resource-policy";
            readonly key: "crossOriginResourcePolicy";
            readonly type: "string";
        }, {
            readonly name: "content-security-policy";
            readonly key: "contentSecurityPolicy";
            readonly type: "string";
        }, {
            readonly name: "strict-transport-security";
            readonly key: "strictTransportSecurity";
            readonly type: "string";
        }];
    };
};
export type OperationId = (typeof OPERATIONS)[keyof typeof OPERATIONS]["id"];
export type OperationPath = (typeof OPERATIONS)[keyof typeof OPERATIONS]["path"];
export type OperationTag = Extract<(typeof OPERATIONS)[keyof typeof OPERATIONS], {
    tags: readonly string[];
}>["tags"][number];
/**
 * The public type surface of the client runtime — `@redocly/client-generator`'s
 * app-facing runtime module. Pure types, no runtime code (excluded from coverage).
 * The generator emits `OPERATIONS` literals typed
 * `satisfies Record<string, OperationDescriptor>` against this module, so an
 * incompatible runtime/generated pair fails the consumer's build (the semver skew guard).
 */
/** How one operation parameter is sent: its location plus OpenAPI query-serialization hints. */
export type ParamSpec = {
    name: string;
    in: 'path' | 'query' | 'header' | 'cookie';
    style?: 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';
    explode?: boolean;
    allowReserved?: boolean;
};
/** One security scheme, denormalized onto the operation (`scheme` names the spec's scheme). */
export type SecuritySpec = {
    scheme: string;
    kind: 'bearer' | 'basic';
} | {
    scheme: string;
    kind: 'apiKey';
    name: string;
    in: 'header' | 'query' | 'cookie';
};
/**
 * How to auto-iterate a paginated operation (drives its `.pages()`/`.items()` members).
 * `nextCursor`, `nextLink`, and `items` are RFC 6901 JSON pointers into the page (response) value.
 */
export type PaginationSpec = {
    style: 'cursor';
    /** The query param the iterator advances with the response's cursor. */
    param: string;
    /** Optional page-size query param (recorded for tooling; never set by the runtime). */
    limitParam?: string;
    /** Pointer to the next cursor in the page. */
    nextCursor: string;
    /** Optional pointer to a boolean "more pages" flag — `false` stops iteration. */
    hasMore?: string;
    /** Pointer to the page's item array. */
    items: string;
} | {
    style: 'offset' | 'page';
    /** The numeric query param the iterator advances. */
    param: string;
    /** Optional page-size query param (recorded for tooling; never set by the runtime). */
    limitParam?: string;
    /** Pointer to the page's item array. */
    items: string;
} | {
    /** RFC 8288: follow the response's `Link` header `rel="next"`; stop when absent. */
    style: 'link';
    /** Optional page-size query param (recorded for tooling; never set by the runtime). */
    limitParam?: string;
    /** Pointer to the page's item array. */
    items: string;
} | {
    /** Follow the next page's URL at `nextLink` in the page; stop when it is absent. */
    style: 'body-link';
    /** Optional page-size query param (recorded for tooling; never set by the runtime). */
    limitParam?: string;
    /** Pointer to the next page's URL in the page. */
    nextLink: string;
    /** Pointer to the page's item array. */
    items: string;
};
/** The frozen data contract between generated code and the runtime: one operation's wire shape. */
export type OperationDescriptor = {
    id: string;
    method: string;
    path: string;
    tags?: readonly string[];
    params?: readonly ParamSpec[];
    /** `multipart: true` marks a typed object body serialized to FormData by the runtime. */
    body?: {
        contentType: string;
        multipart?: boolean;
    };
    /** Defaults to `'json'` (content-type negotiation on parse). */
    responseKind?: 'json' | 'text' | 'blob' | 'void' | 'sse';
    sseDataKind?: 'json' | 'text';
    /** OR-alternatives, each an AND-set: the runtime applies the first fully-configured one. */
    security?: readonly (readonly SecuritySpec[])[];
    pagination?: PaginationSpec;
    /**
     * `'grouped'` marks an operation that takes its inputs namespaced by layer even on a
     * `argsStyle: 'flat'` client — the generator sets it where a merged call could not carry
     * one name for two layers, and the operation's own input type says the same.
     */
    argsStyle?: 'grouped';
    /**
     * Declared success-response headers for throw-mode `{ envelope: true }`.
     * `name` is the lowercased wire name; `key` is the camelCase envelope property.
     */
    responseHeaders?: readonly ResponseHeaderSpec[];
};
/** One declared response header the runtime coerces into the envelope `headers` object. */
export type ResponseHeaderSpec = {
    name: string;
    key: string;
    type: 'string' | 'number' | 'boolean';
};
/** A query value: scalars, arrays of scalars, or objects (serialized as deepObject brackets). */
export type QueryValue = string | number | boolean | null | undefined | Array<string | number | boolean | null | undefined> | Record<string, unknown>;
/** A credential: a literal, or a (possibly async) function resolved per request (refresh flows). */
export type TokenProvider = string | (() => string | Promise<string>);
/** Per-instance credentials, keyed by the scheme kinds the runtime can inject. */
export type AuthCredentials = {
    bearer?: TokenProvider;
    basic?: {
        username: string;
        password: string;
    };
    apiKey?: Record<string, TokenProvider>;
};
/** Backoff shape: 'fixed' = constant delay; 'exponential' = doubling per attempt. */
export type RetryStrategy = 'fixed' | 'exponential';
/**
 * The operation's identity, exposed to middleware for targeting (`ctx.operation`).
 * Generated clients instantiate the type parameters with the spec's literal unions
 * (`OperationId`/`OperationPath`/`OperationTag`) so a misspelled operation id in a
 * middleware comparison fails to compile; the string defaults keep every
 * spec-independent consumer (`runtime-contract.ts`, the runtime internals) working
 * with the base shape. `tags` stays mutable (`Tag[]`) so setup-contract types
 * (byte-locked to generated output) remain assignable through middleware callbacks.
 */
export type OperationContext<Id extends string = string, Path extends string = string, Tag extends string = string> = {
    id: Id;
    path: Path;
    tags: Tag[];
};
/** The mutable request context threaded through the middleware chain. */
export type RequestContext<Op extends OperationContext = OperationContext> = {
    url: string;
    method: string;
    headers: Record<string, string>;
    body?: unknown;
    operation: Op;
};
/** The failed attempt handed to a custom `retryOn`: exactly one of `response`/`error` is set. */
export type RetryContext<Op extends OperationContext = OperationContext> = {
    attempt: number;
    request: RequestContext<Op>;
    response?: Response;
    error?: unknown;
};
/** Opt-in retry policy; a per-call override merges field-by-field over the config policy. */
export type RetryConfig<Op extends OperationContext = OperationContext> = {
    retries?: number;
    retryDelay?: number;
    retryStrategy?: RetryStrategy;
    jitter?: boolean;
    retryOn?: (ctx: RetryContext<Op>) => boolean | Promise<boolean>;
};
/**
 * Structural stand-in for the runtime's ApiError so this module stays import-free
 * (pure types); the real `ApiError` class is assignable to it.
 */
export type ApiErrorLike = globalThis.Error & {
    url: string;
    status: number;
    statusText: string;
    body: unknown;
};
export type SettledCall = {
    response?: Response | undefined;
    error?: unknown;
    attempts: number;
    durationMs: number;
};
/** One interceptor: any subset of the four hooks. */
export type Middleware<Op extends OperationContext = OperationContext> = {
    onRequest?: (ctx: RequestContext<Op>) => void | Promise<void>;
    onResponse?: (response: Response, ctx: RequestContext<Op>) => Response | void | Promise<Response | void>;
    /** Throw mode only: may map/replace the error. */
    onError?: (error: ApiErrorLike, ctx: RequestContext<Op>) => globalThis.Error | Promise<globalThis.Error>;
    onSettled?: (ctx: RequestContext<Op>, call: SettledCall) => void | Promise<void>;
};
/** Client configuration: transport, defaults, retry policy, middleware, and credentials. */
export type ClientConfig<Op extends OperationContext = OperationContext> = {
    serverUrl?: string;
    fetch?: typeof fetch;
    headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
    retry?: RetryConfig<Op>;
    /** Milliseconds before a request attempt aborts (covers the body read too; each retry
     * attempt gets a fresh budget). Per-call `timeout` overrides it, `0` disables it.
     * SSE streams are long-lived by design and never inherit this value. */
    timeout?: number;
    /** Send an `Idempotency-Key` header on POST/PATCH (one stable key per logical call,
     * reused across retry attempts) — which also makes those retries safe under the
     * default retry policy. `true` generates a UUID per call; a function supplies the key. */
    idempotencyKey?: boolean | (() => string);
    /** Identifies this client to the API via an `X-Redocly-Client` header (the generator
     * bakes a default). Sent only OUTSIDE browsers — a custom header would force a CORS
     * preflight. Override with your own value, or `false` to disable. */
    clientHeader?: string | false;
    middleware?: Middleware<Op>[];
    auth?: AuthCredentials;
    /** Fixed at generate time by the generator (`'throw'` when omitted); `configure()` ignores it. */
    errorMode?: 'throw' | 'result';
    /**
     * How each call spells its inputs: `'grouped'` (the default) namespaces them by layer —
     * `{ path, query, headers, cookies, body }` — and `'flat'` takes one merged object.
     * Fixed at generate time, like `errorMode`, because it shapes the static types.
     */
    argsStyle?: 'grouped' | 'flat';
    onRequest?: Middleware<Op>['onRequest'];
    onResponse?: Middleware<Op>['onResponse'];
    onError?: Middleware<Op>['onError'];
};
/** Response readers for the per-call `parseAs` override. */
export type ParseAs = 'auto' | 'json' | 'text' | 'blob' | 'arrayBuffer' | 'formData' | 'stream';
/** Per-call options: standard `RequestInit` plus a retry override, a timeout override
 * (`0` disables the config default), and a forced reader. */
export type RequestOptions = RequestInit & {
    retry?: RetryConfig;
    timeout?: number;
    /** Per-call idempotency key: a literal key, `true` to generate one, `false` to skip. */
    idempotencyKey?: string | boolean | (() => string);
    parseAs?: ParseAs;
    /**
     * Throw mode only: return `{ data, headers, response }` instead of the parsed body;
     * ignored in result mode. The explicit `| undefined` keeps the wrappers' emitted
     * `envelope: undefined` strip legal under `exactOptionalPropertyTypes`.
     */
    envelope?: boolean | undefined;
};
/** Throw-mode success envelope when `RequestOptions.envelope` is `true`. */
export type Envelope<TData, THeaders = Record<string, never>> = {
    data: TData;
    headers: THeaders;
    response: Response;
};
/** Per-call options for an SSE stream; reconnect defaults to true. */
export type SseOptions = RequestInit & {
    reconnect?: boolean;
    reconnectDelay?: number;
};
/** A single decoded Server-Sent Event with its payload typed from the spec. */
export type ServerSentEvent<T> = {
    event?: string;
    data: T;
    id?: string;
    retry?: number;
};
/** Result-mode return shape: exactly one of `data`/`error` is set. */
export type Result<TData, TError> = {
    data: TData;
    error: undefined;
    response: Response;
} | {
    data: undefined;
    error: TError;
    response: Response;
};
/**
 * The generated `Ops` type's shape: per-operation args/result, plus `kind: 'sse'` for
 * streams and, for paginated operations, `item` (the page's element type) and — on
 * result-mode clients only — `page` (the RAW page type `.pages()` yields, since
 * iteration unwraps the `Result` envelope the one-shot `result` carries).
 */
export type OpsShape = Record<string, {
    args: object;
    result: unknown;
    kind?: 'sse';
    item?: unknown;
    page?: unknown;
    /** Declared success-response headers for `{ envelope: true }` (camelCase keys). */
    headers?: object;
    /** Result-mode entries ignore the throw-only `envelope` option. */
    mode?: 'result';
}>;
/** The always-present client members (assigned after the operation loop — they win collisions). */
export type ClientCore<Op extends OperationContext = OperationContext> = {
    /** Merge into the config; note `middleware` REPLACES the chain (use `use()` to compose). */
    configure(config: ClientConfig<Op>): void;
    /** Append interceptors (composes with baked/publisher middleware). */
    use(...middleware: Middleware<Op>[]): void;
    auth: {
        bearer(token: TokenProvider): void;
        basic(username: string, password: string): void;
        apiKey(scheme: string, value: TokenProvider): void;
    };
};
/**
 * The standard TypeScript optionality probe: `{}` has no required members, so
 * `{} extends A` is true exactly when every member of `A` is optional.
 */
type NoRequiredKeys<A> = {} extends A ? true : false;
/**
 * The page type `.pages()` yields: the RAW page declared by `page` (the generator
 * writes it only on result-mode paginated entries, whose `result` is the envelope),
 * or the method's own `result` (throw mode — already the raw page).
 */
type PageOf<Entry extends OpsShape[string]> = Entry extends {
    page: unknown;
} ? Entry['page'] : Entry['result'];
/**
 * The auto-pagination members intersected onto a paginated method — present exactly when
 * the Ops entry declares `item` (the generator writes it only for paginated operations).
 * Args optionality mirrors the method's own; `unknown` otherwise (identity under `&`).
 * Iteration is error-mode-agnostic: `.pages()`/`.items()` yield raw pages/items, and a
 * failed page aborts iteration by throwing `ApiError`, even on result-mode clients; the
 * `onError` middleware hook (throw-mode-only) is not invoked.
 */
type Paginated<Entry extends OpsShape[string]> = 'item' extends keyof Entry ? NoRequiredKeys<Entry['args']> extends true ? {
    pages(args?: Entry['args'], init?: RequestOptions): AsyncGenerator<PageOf<Entry>>;
    items(args?: Entry['args'], init?: RequestOptions): AsyncGenerator<Entry['item']>;
} : {
    pages(args: Entry['args'], init?: RequestOptions): AsyncGenerator<PageOf<Entry>>;
    items(args: Entry['args'], init?: RequestOptions): AsyncGenerator<Entry['item']>;
} : unknown;
/**
 * The stable identity every client method carries: the SPEC operationId (also set as
 * `fn.name`, but `operationId` is the explicit, minification-proof form) — a robust
 * cache key for consumer wrappers (react-query keys and the like).
 */
export type OperationMethodIdentity = {
    readonly operationId: string;
};
/** Declared response-header bag for an Ops entry; empty object when none are declared. */
type HeadersOf<Entry extends OpsShape[string]> = 'headers' extends keyof Entry ? NonNullable<Entry['headers']> : Record<string, never>;
/**
 * Return type of a throw-mode call: the body by default, `Envelope<…>` for a literal
 * `envelope: true`, their union when the flag is a widened `boolean`. Exact
 * `RequestOptions` stays the body — pre-envelope package-mode flat sugar typed every
 * `init` parameter as `RequestOptions`, and widening that would break upgrades without
 * a regenerate. The `keyof` presence gate keeps `{ headers }` / `{ signal }` as the body
 * (`TInit['envelope']` through `TInit & RequestOptions` would otherwise be
 * `boolean | undefined`).
 */
export type EnvelopeResult<TData, THeaders, TInit extends RequestOptions | undefined> = TInit extends undefined ? TData : RequestOptions extends TInit ? TInit extends RequestOptions ? TData : EnvelopeResultForKnownInit<TData, THeaders, TInit> : EnvelopeResultForKnownInit<TData, THeaders, TInit>;
type EnvelopeResultForKnownInit<TData, THeaders, TInit> = 'envelope' extends keyof TInit ? [TInit['envelope' & keyof TInit]] extends [true] ? Envelope<TData, THeaders> : [TInit['envelope' & keyof TInit]] extends [false | undefined] ? TData : TData | Envelope<TData, THeaders> : TData;
/** A one-shot method whose return shape never varies with per-call options. */
type BodyMethod<Entry extends OpsShape[string]> = NoRequiredKeys<Entry['args']> extends true ? (args?: Entry['args'], init?: RequestOptions) => Promise<Entry['result']> : (args: Entry['args'], init?: RequestOptions) => Promise<Entry['result']>;
/**
 * One-shot (non-SSE) method: default returns the body; `{ envelope: true }` returns
 * `{ data, headers, response }` with typed declared headers.
 */
type ThrowMethod<Entry extends OpsShape[string]> = NoRequiredKeys<Entry['args']> extends true ? <Init extends RequestOptions | undefined = undefined>(args?: Entry['args'], init?: Init) => Promise<EnvelopeResult<Entry['result'], HeadersOf<Entry>, Init>> : <Init extends RequestOptions | undefined = undefined>(args: Entry['args'], init?: Init) => Promise<EnvelopeResult<Entry['result'], HeadersOf<Entry>, Init>>;
/** The typed instance client: one bound method per operation plus the core members. */
export type Client<Ops extends OpsShape, Op extends OperationContext = OperationContext> = {
    [K in keyof Ops]: Ops[K] extends {
        kind: 'sse';
    } ? (NoRequiredKeys<Ops[K]['args']> extends true ? (args?: Ops[K]['args'], init?: SseOptions) => AsyncGenerator<ServerSentEvent<Ops[K]['result']>> : (args: Ops[K]['args'], init?: SseOptions) => AsyncGenerator<ServerSentEvent<Ops[K]['result']>>) & OperationMethodIdentity : (Ops[K] extends {
        mode: 'result';
    } ? BodyMethod<Ops[K]> : ThrowMethod<Ops[K]>) & OperationMethodIdentity & Paginated<Ops[K]>;
} & ClientCore<Op>;
/** The error thrown (throw mode) for a non-2xx response, carrying the decoded error body. */
export declare class ApiError extends Error {
    readonly url: string;
    readonly status: number;
    readonly statusText: string;
    readonly body: unknown;
    constructor(url: string, status: number, statusText: string, body: unknown);
}
/** The error thrown when a request attempt exceeds the configured `timeout` — carries
 * the context a log line needs (which operation, what budget, which attempt). */
export declare class TimeoutError extends Error {
    readonly operationId: string;
    readonly timeout: number;
    readonly attempt: number;
    constructor(operationId: string, timeout: number, attempt: number);
}
/**
 * The default retry predicate: idempotent methods — or any request carrying an
 * `Idempotency-Key` header, which makes re-sending safe — on a transport error or a
 * transient status. A custom `retryOn` fully replaces this (no method check kept).
 */
export declare function defaultRetryOn(ctx: RetryContext): boolean;
/**
 * The client factory: `createClientCore` wired with the capabilities this API needs.
 * Exported so apps can build additional instances (per-tenant, per-environment) over
 * the same `OPERATIONS`/`Ops`. The trailing string params carry the wiring's literal
 * unions (`OperationId`/`OperationPath`/`OperationTag`) into `ctx.operation`.
 */
export declare function createClient<Ops extends OpsShape, Id extends string = string, Path extends string = string, Tag extends string = string>(operations: Record<string, OperationDescriptor>, config?: ClientConfig<OperationContext<Id, Path, Tag>>): Client<Ops, OperationContext<Id, Path, Tag>>;
export declare const client: Client<Ops, OperationContext<"amendOrder" | "cancelOrder" | "cancelOrders" | "changeMe" | "changeOrganization" | "createKey" | "createVenueKey" | "endSession" | "exportHistory" | "getAccount" | "getBook" | "getCandles" | "getDescription" | "getEquity" | "getEval" | "getGame" | "getHistory" | "getHistoryAsOf" | "getInstrument" | "getLeaderboard" | "getMe" | "getOrder" | "getOrderReceipt" | "getOwnEval" | "getPortfolio" | "getQuote" | "getStatus" | "getTrackRecord" | "getTradeReceipt" | "getTrader" | "getUsage" | "getVerdict" | "listEvents" | "listGames" | "listInstruments" | "listKeys" | "listOrderGroups" | "listOrders" | "listOrganizations" | "listPicks" | "listQuotes" | "listSessions" | "listTrackRecordKeys" | "listTrades" | "listVenueKeys" | "makeOrderGroup" | "placeOrder" | "placeOrders" | "previewOrder" | "removeOrderGroup" | "resetAccount" | "revokeKey" | "revokeVenueKey" | "rotateKey" | "runBacktest" | "searchInstruments", "/account" | "/account/reset" | "/api_keys" | "/api_keys/{id}" | "/api_keys/{id}/rotate" | "/backtest" | "/eval" | "/games" | "/games/{ref}" | "/history" | "/history/as_of" | "/history/candles" | "/history/export" | "/instruments" | "/instruments/search" | "/instruments/{ref}" | "/instruments/{ref}/book" | "/instruments/{ref}/quote" | "/leaderboard" | "/me" | "/me/eval" | "/me/sessions" | "/me/sessions/{id}" | "/me/verdict" | "/openapi.json" | "/organizations" | "/organizations/{organizationId}" | "/portfolio" | "/portfolio/equity" | "/portfolio/events" | "/portfolio/order_groups" | "/portfolio/order_groups/{orderGroupId}" | "/portfolio/orders" | "/portfolio/orders/batch" | "/portfolio/orders/preview" | "/portfolio/orders/{orderId}" | "/portfolio/orders/{orderId}/receipt" | "/portfolio/trades" | "/portfolio/trades/{tradeId}/receipt" | "/quotes" | "/status" | "/track-record/keys" | "/traders/{traderId}" | "/traders/{traderId}/picks" | "/traders/{traderId}/track-record" | "/usage" | "/venue_keys" | "/venue_keys/{keyId}", "Backtest" | "History" | "Keys" | "Markets" | "Portfolio" | "Records" | "Service" | "Trading">>;
export declare const configure: (config: ClientConfig<OperationContext<"amendOrder" | "cancelOrder" | "cancelOrders" | "changeMe" | "changeOrganization" | "createKey" | "createVenueKey" | "endSession" | "exportHistory" | "getAccount" | "getBook" | "getCandles" | "getDescription" | "getEquity" | "getEval" | "getGame" | "getHistory" | "getHistoryAsOf" | "getInstrument" | "getLeaderboard" | "getMe" | "getOrder" | "getOrderReceipt" | "getOwnEval" | "getPortfolio" | "getQuote" | "getStatus" | "getTrackRecord" | "getTradeReceipt" | "getTrader" | "getUsage" | "getVerdict" | "listEvents" | "listGames" | "listInstruments" | "listKeys" | "listOrderGroups" | "listOrders" | "listOrganizations" | "listPicks" | "listQuotes" | "listSessions" | "listTrackRecordKeys" | "listTrades" | "listVenueKeys" | "makeOrderGroup" | "placeOrder" | "placeOrders" | "previewOrder" | "removeOrderGroup" | "resetAccount" | "revokeKey" | "revokeVenueKey" | "rotateKey" | "runBacktest" | "searchInstruments", "/account" | "/account/reset" | "/api_keys" | "/api_keys/{id}" | "/api_keys/{id}/rotate" | "/backtest" | "/eval" | "/games" | "/games/{ref}" | "/history" | "/history/as_of" | "/history/candles" | "/history/export" | "/instruments" | "/instruments/search" | "/instruments/{ref}" | "/instruments/{ref}/book" | "/instruments/{ref}/quote" | "/leaderboard" | "/me" | "/me/eval" | "/me/sessions" | "/me/sessions/{id}" | "/me/verdict" | "/openapi.json" | "/organizations" | "/organizations/{organizationId}" | "/portfolio" | "/portfolio/equity" | "/portfolio/events" | "/portfolio/order_groups" | "/portfolio/order_groups/{orderGroupId}" | "/portfolio/orders" | "/portfolio/orders/batch" | "/portfolio/orders/preview" | "/portfolio/orders/{orderId}" | "/portfolio/orders/{orderId}/receipt" | "/portfolio/trades" | "/portfolio/trades/{tradeId}/receipt" | "/quotes" | "/status" | "/track-record/keys" | "/traders/{traderId}" | "/traders/{traderId}/picks" | "/traders/{traderId}/track-record" | "/usage" | "/venue_keys" | "/venue_keys/{keyId}", "Backtest" | "History" | "Keys" | "Markets" | "Portfolio" | "Records" | "Service" | "Trading">>) => void, use: (...middleware: Middleware<OperationContext<"amendOrder" | "cancelOrder" | "cancelOrders" | "changeMe" | "changeOrganization" | "createKey" | "createVenueKey" | "endSession" | "exportHistory" | "getAccount" | "getBook" | "getCandles" | "getDescription" | "getEquity" | "getEval" | "getGame" | "getHistory" | "getHistoryAsOf" | "getInstrument" | "getLeaderboard" | "getMe" | "getOrder" | "getOrderReceipt" | "getOwnEval" | "getPortfolio" | "getQuote" | "getStatus" | "getTrackRecord" | "getTradeReceipt" | "getTrader" | "getUsage" | "getVerdict" | "listEvents" | "listGames" | "listInstruments" | "listKeys" | "listOrderGroups" | "listOrders" | "listOrganizations" | "listPicks" | "listQuotes" | "listSessions" | "listTrackRecordKeys" | "listTrades" | "listVenueKeys" | "makeOrderGroup" | "placeOrder" | "placeOrders" | "previewOrder" | "removeOrderGroup" | "resetAccount" | "revokeKey" | "revokeVenueKey" | "rotateKey" | "runBacktest" | "searchInstruments", "/account" | "/account/reset" | "/api_keys" | "/api_keys/{id}" | "/api_keys/{id}/rotate" | "/backtest" | "/eval" | "/games" | "/games/{ref}" | "/history" | "/history/as_of" | "/history/candles" | "/history/export" | "/instruments" | "/instruments/search" | "/instruments/{ref}" | "/instruments/{ref}/book" | "/instruments/{ref}/quote" | "/leaderboard" | "/me" | "/me/eval" | "/me/sessions" | "/me/sessions/{id}" | "/me/verdict" | "/openapi.json" | "/organizations" | "/organizations/{organizationId}" | "/portfolio" | "/portfolio/equity" | "/portfolio/events" | "/portfolio/order_groups" | "/portfolio/order_groups/{orderGroupId}" | "/portfolio/orders" | "/portfolio/orders/batch" | "/portfolio/orders/preview" | "/portfolio/orders/{orderId}" | "/portfolio/orders/{orderId}/receipt" | "/portfolio/trades" | "/portfolio/trades/{tradeId}/receipt" | "/quotes" | "/status" | "/track-record/keys" | "/traders/{traderId}" | "/traders/{traderId}/picks" | "/traders/{traderId}/track-record" | "/usage" | "/venue_keys" | "/venue_keys/{keyId}", "Backtest" | "History" | "Keys" | "Markets" | "Portfolio" | "Records" | "Service" | "Trading">>[]) => void;
export declare const getStatus: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: GetStatusHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<Status, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, getMe: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: GetMeHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<Me, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, changeMe: (<Init extends RequestOptions | undefined = undefined>(args: {
    body: ChangeMeBody;
    headers?: ChangeMeHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<Profile, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, getUsage: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: GetUsageHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<Usage, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, listOrganizations: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: ListOrganizationsHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<OrganizationsAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, changeOrganization: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: ChangeOrganizationPath;
    body: ChangeOrganizationBody;
    headers?: ChangeOrganizationHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<OrganizationAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, listSessions: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: ListSessionsHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<Sessions, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, endSession: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: EndSessionPath;
    headers?: EndSessionHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<Sessions, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, listKeys: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: ListKeysHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<KeyList, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, createKey: (<Init extends RequestOptions | undefined = undefined>(args: {
    body: CreateKeyBody;
    headers?: CreateKeyHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<KeyCreateResponse, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, rotateKey: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: RotateKeyPath;
    body?: RotateKeyBody;
    headers?: RotateKeyHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<KeyRotateResponse, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, revokeKey: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: RevokeKeyPath;
    headers?: RevokeKeyHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<KeyAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, listVenueKeys: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: ListVenueKeysHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<VenueKeyList, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, createVenueKey: (<Init extends RequestOptions | undefined = undefined>(args?: {
    body?: CreateVenueKeyBody;
    headers?: CreateVenueKeyHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<VenueKeyCreateResponse, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, revokeVenueKey: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: RevokeVenueKeyPath;
    headers?: RevokeVenueKeyHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<VenueKeyAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, listTrackRecordKeys: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: ListTrackRecordKeysHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<TrackRecordKeys, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, listInstruments: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: ListInstrumentsQuery;
    headers?: ListInstrumentsHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<InstrumentsPage, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, searchInstruments: (<Init extends RequestOptions | undefined = undefined>(args: {
    query: SearchInstrumentsQuery;
    headers?: SearchInstrumentsHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<InstrumentsFound, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getInstrument: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: GetInstrumentPath;
    headers?: GetInstrumentHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<InstrumentAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, listGames: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: ListGamesQuery;
    headers?: ListGamesHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<GamesPage, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getGame: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: GetGamePath;
    headers?: GetGameHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<GameAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, listQuotes: (<Init extends RequestOptions | undefined = undefined>(args: {
    query: ListQuotesQuery;
    headers?: ListQuotesHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<QuotesAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getQuote: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: GetQuotePath;
    headers?: GetQuoteHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<QuoteAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getBook: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: GetBookPath;
    headers?: GetBookHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<Book, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getHistory: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: GetHistoryQuery;
    headers?: GetHistoryHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<HistoryPage, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getCandles: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: GetCandlesQuery;
    headers?: GetCandlesHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<CandlesPage, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getHistoryAsOf: (<Init extends RequestOptions | undefined = undefined>(args: {
    query: GetHistoryAsOfQuery;
    headers?: GetHistoryAsOfHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<HistoryAsOf, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, exportHistory: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: ExportHistoryQuery;
    headers?: ExportHistoryHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<string, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    contentDisposition?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getAccount: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: GetAccountHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<AccountPage, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, resetAccount: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: ResetAccountHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<ResetResult, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity, runBacktest: (<Init extends RequestOptions | undefined = undefined>(args: {
    body: RunBacktestBody;
    headers?: RunBacktestHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<Backtest, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getPortfolio: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: GetPortfolioHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<Portfolio, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, listTrades: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: ListTradesQuery;
    headers?: ListTradesHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<TradesPage, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getEquity: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: GetEquityQuery;
    headers?: GetEquityHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<Equity, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, listEvents: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: ListEventsQuery;
    headers?: ListEventsHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<EventsPage, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getOrderReceipt: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: GetOrderReceiptPath;
    headers?: GetOrderReceiptHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<SignedReceipt, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getTradeReceipt: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: GetTradeReceiptPath;
    headers?: GetTradeReceiptHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<SignedReceipt, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getLeaderboard: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: GetLeaderboardQuery;
    headers?: GetLeaderboardHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<Leaderboard, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getTrader: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: GetTraderPath;
    headers?: GetTraderHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<TraderAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, listPicks: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: ListPicksPath;
    query?: ListPicksQuery;
    headers?: ListPicksHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<PicksPage, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getOwnEval: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: GetOwnEvalQuery;
    headers?: GetOwnEvalHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<OwnEval, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getVerdict: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: GetVerdictQuery;
    headers?: GetVerdictHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<Verdict, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getEval: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: GetEvalQuery;
    headers?: GetEvalHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<EvalBoard, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getTrackRecord: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: GetTrackRecordPath;
    query?: GetTrackRecordQuery;
    headers?: GetTrackRecordHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<SignedTrackRecord, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, listOrders: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: ListOrdersQuery;
    headers?: ListOrdersHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<OrdersPage, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, placeOrder: (<Init extends RequestOptions | undefined = undefined>(args: {
    body: PlaceOrderBody;
    headers?: PlaceOrderHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<OrderPlacement, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, cancelOrders: (<Init extends RequestOptions | undefined = undefined>(args?: {
    query?: CancelOrdersQuery;
    headers?: CancelOrdersHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<CanceledOrders, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getOrder: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: GetOrderPath;
    headers?: GetOrderHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<OrderAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, cancelOrder: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: CancelOrderPath;
    headers?: CancelOrderHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<OrderAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, amendOrder: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: AmendOrderPath;
    body: AmendOrderBody;
    headers?: AmendOrderHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<OrderAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, listOrderGroups: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: ListOrderGroupsHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<OrderGroups, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, makeOrderGroup: (<Init extends RequestOptions | undefined = undefined>(args: {
    body: MakeOrderGroupBody;
    headers?: MakeOrderGroupHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<OrderGroupAnswer, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, removeOrderGroup: (<Init extends RequestOptions | undefined = undefined>(args: {
    path: RemoveOrderGroupPath;
    headers?: RemoveOrderGroupHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<CanceledOrders, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, previewOrder: (<Init extends RequestOptions | undefined = undefined>(args: {
    body: PreviewOrderBody;
    headers?: PreviewOrderHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<OrderPreview, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, placeOrders: (<Init extends RequestOptions | undefined = undefined>(args: {
    body: PlaceOrdersBody;
    headers?: PlaceOrdersHeaders;
}, init?: Init | undefined) => Promise<EnvelopeResult<OrderBatchResults, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
    servicePlan: string;
    serviceQuotaLimit: number;
    serviceQuotaRemaining: number;
    serviceQuotaReset: number;
}, Init>>) & OperationMethodIdentity, getDescription: (<Init extends RequestOptions | undefined = undefined>(args?: {
    headers?: GetDescriptionHeaders;
} | undefined, init?: Init | undefined) => Promise<EnvelopeResult<OpenApiDocument, {
    xRequestId: string;
    cacheControl: string;
    ratelimitLimit: number;
    ratelimitRemaining: number;
    ratelimitReset: number;
    ratelimitPolicy: string;
    ratelimit: string;
    xContentTypeOptions: string;
    referrerPolicy: string;
    crossOriginResourcePolicy: string;
    contentSecurityPolicy: string;
    strictTransportSecurity?: string;
}, Init>>) & OperationMethodIdentity;
export {};
