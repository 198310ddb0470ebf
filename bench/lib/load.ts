/** Requests to a server as texts, and what the generator reads from its answers. */
import type { Answer } from './http-connection.ts';
import { type Random, seededRandom } from './random.ts';

/** The requests of one connection, in a loop. */
export interface Caller {
  next(): string;
  saw(answer: Answer): void;
}

/** `frames`: orders as WebSocket messages. */
export type LoadKind = 'orders' | 'quotes' | 'portfolio' | 'frames';

export type LoadOptions = {
  kind: LoadKind;
  port: number;
  basePath: string;
  /** API keys: each request uses a random one, and a cancel that of its order. */
  keys: readonly string[];
  instruments: readonly string[];
  /** Prefix of idempotency keys: no two loads may share one. */
  name: string;
};

export function createCaller(options: LoadOptions, connection: number): Caller {
  const random = seededRandom(connection + 1);
  switch (options.kind) {
    case 'orders':
      return new Trader(options, `${options.name}-${connection}`, random, httpForm(options));
    case 'frames':
      return new Trader(options, `${options.name}-${connection}`, random, FRAME_FORM);
    case 'quotes': {
      const paths = options.instruments.map((id) => `/quotes?ids=${id}`);
      return new Reader(options, paths, random);
    }
    case 'portfolio':
      return new Reader(options, ['/portfolio'], random);
    default:
      return options.kind satisfies never;
  }
}

class Reader implements Caller {
  readonly #options: LoadOptions;
  readonly #heads: readonly string[];
  readonly #random: Random;

  constructor(options: LoadOptions, paths: readonly string[], random: Random) {
    const { port, basePath } = options;
    this.#options = options;
    this.#heads = paths.map((path) => `GET ${basePath}${path} HTTP/1.1\r\n${hostText(port)}`);
    this.#random = random;
  }

  next(): string {
    const head = this.#heads[this.#random.below(this.#heads.length)]!;
    return `${head}${keyText(anyKey(this.#options, this.#random))}\r\n`;
  }

  saw(): void {}
}

function anyKey({ keys }: LoadOptions, random: Random): string {
  return keys[random.below(keys.length)]!;
}

/** Out of a hundred: limit buys that rest, market buys; the others cancel resting orders. */
const LIMIT_BUYS = 50;
const MARKET_BUYS = 25;
const LIMIT_CENTS_MAX = 5;
const ORDER_ID = '"orderId":"';
const UUID_LENGTH = 36;

class Trader implements Caller {
  readonly #options: LoadOptions;
  readonly #name: string;
  readonly #random: Random;
  readonly #form: TradeForm;
  readonly #resting: { key: string; id: string }[] = [];
  #orders = 0;
  /** Of the order in flight; null: it does not rest. */
  #limitKey: string | null = null;

  constructor(options: LoadOptions, name: string, random: Random, form: TradeForm) {
    this.#options = options;
    this.#name = name;
    this.#random = random;
    this.#form = form;
  }

  next(): string {
    const drawn = this.#random.below(100);
    this.#limitKey = null;
    if (drawn >= LIMIT_BUYS && drawn < LIMIT_BUYS + MARKET_BUYS) return this.#post(false);
    const cancels = drawn >= LIMIT_BUYS ? this.#resting.pop() : undefined;
    if (cancels === undefined) return this.#post(true);
    return this.#form.cancel(cancels.key, cancels.id);
  }

  saw({ status, text, bodyStart }: Answer): void {
    if (this.#limitKey === null || status !== 200) return;
    const at = text.indexOf(ORDER_ID, bodyStart) + ORDER_ID.length;
    this.#resting.push({ key: this.#limitKey, id: text.slice(at, at + UUID_LENGTH) });
  }

  #post(isLimit: boolean): string {
    const random = this.#random;
    const { instruments } = this.#options;
    const key = anyKey(this.#options, random);
    if (isLimit) this.#limitKey = key;
    const id = instruments[random.below(instruments.length)]!;
    const idempotencyKey = `${this.#name}-${(this.#orders++).toString(36)}`;
    const kind = isLimit
      ? `"type":"limit","limitPriceCents":${1 + random.below(LIMIT_CENTS_MAX)}`
      : '"type":"market"';
    const body =
      `{"action":"buy",${kind},"instrumentId":"${id}","side":"yes","count":1,` +
      `"idempotencyKey":"${idempotencyKey}"}`;
    return this.#form.place(key, body);
  }
}

/** How an order and a cancel are written. */
type TradeForm = {
  place(key: string, body: string): string;
  cancel(key: string, orderId: string): string;
};

function httpForm({ port, basePath }: LoadOptions): TradeForm {
  const host = hostText(port);
  const postHead =
    `POST ${basePath}/portfolio/orders HTTP/1.1\r\n${host}` +
    'Content-Type: application/json\r\nContent-Length: ';
  const deleteHead = `DELETE ${basePath}/portfolio/orders/`;
  return {
    place: (key, body) => `${postHead}${body.length}\r\n${keyText(key)}\r\n${body}`,
    cancel: (key, id) => `${deleteHead}${id} HTTP/1.1\r\n${host}${keyText(key)}\r\n`,
  };
}

/** What stands behind the id in a message; its connection has the key. */
const FRAME_FORM: TradeForm = {
  place: (_key, body) => `"op":"place","order":${body}}`,
  cancel: (_key, id) => `"op":"cancel","orderId":"${id}"}`,
};

const hostText = (port: number) => `Host: 127.0.0.1:${port}\r\n`;
const keyText = (key: string) => `Authorization: Bearer ${key}\r\n`;
