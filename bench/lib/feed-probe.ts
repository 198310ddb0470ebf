/**
 * Measures a server from outside: when a venue's frame shows in a quote, and when it fills an
 * order.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, HttpConnection } from './http-connection.ts';
import type { KalshiVenue } from './kalshi-venue.ts';
import type { Served } from './server.ts';
import { Latencies } from './stats.ts';
import { codeOf, msSince } from './venue-time.ts';

/** An ask that no order of a probe takes, and one that its order waits for. */
const FAR_CENTS = 60;
const NEAR_CENTS = 30;
const POLL_MS = 4;
const PAUSE_MS = 15;
const WAITED_MAX_MS = 30_000;

export class FeedProbe {
  readonly #port: number;
  #connection: HttpConnection;
  readonly #head: string;
  readonly #base: string;
  #orders = 0;

  static async open({ port, basePath }: Served, key: string): Promise<FeedProbe> {
    return new FeedProbe(port, await HttpConnection.open(port), basePath, key);
  }

  private constructor(port: number, connection: HttpConnection, basePath: string, key: string) {
    this.#port = port;
    this.#connection = connection;
    this.#base = basePath;
    this.#head = `HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n`;
  }

  /** The id of the instrument with this slug. */
  async instrumentId(slug: string): Promise<string> {
    return /"id":"(ins_\w+)"/.exec(await this.#get(`/instruments/${slug}`))![1]!;
  }

  /** The lag of the lag market's quote, at each look that shows a new one, for so long. */
  async lag(instrumentId: string, forMs: number): Promise<Latencies> {
    const lags = new Latencies();
    const endsMs = performance.now() + forMs;
    let last = await this.#code(instrumentId);
    while (performance.now() < endsMs) {
      const code = await this.#code(instrumentId);
      if (code !== last) lags.add(msSince(code));
      last = code;
      await sleep(POLL_MS);
    }
    return lags;
  }

  /** From a frame to the quote that shows it. */
  async frameToQuote(venue: KalshiVenue, instrumentId: string, times: number): Promise<Latencies> {
    const took = new Latencies();
    for (let each = 0; each < times; each++) {
      const code = codeOf(await venue.ask({ kind: 'mark' }));
      await this.#until(async () => (await this.#code(instrumentId)) === code);
      took.add(msSince(code));
      await sleep(PAUSE_MS);
    }
    return took;
  }

  /** From a frame to the fill of the order that waited for its price. */
  async frameToFill(venue: KalshiVenue, instrumentId: string, times: number): Promise<Latencies> {
    const took = new Latencies();
    const shows = (cents: number) => this.#until(() => this.#shows(instrumentId, cents));
    for (let each = 0; each < times; each++) {
      const id = await this.#placeBuy(instrumentId);
      const code = codeOf(await venue.ask({ kind: 'ask', cents: NEAR_CENTS }));
      const path = `/portfolio/orders/${id}`;
      await this.#until(async () => (await this.#get(path)).includes('"status":"executed"'));
      took.add(msSince(code));
      await venue.ask({ kind: 'ask', cents: FAR_CENTS });
      await shows(FAR_CENTS);
      await sleep(PAUSE_MS);
    }
    return took;
  }

  close(): void {
    this.#connection.close();
  }

  async #code(instrumentId: string): Promise<number> {
    const quote = await this.#get(`/quotes?ids=${instrumentId}`);
    return Number(/"yesBidContracts":(\d+)/.exec(quote)?.[1] ?? 0);
  }

  async #shows(instrumentId: string, askCents: number): Promise<boolean> {
    const quote = await this.#get(`/quotes?ids=${instrumentId}`);
    return quote.includes(`"yesAskCents":${askCents},`);
  }

  async #placeBuy(instrumentId: string): Promise<string> {
    const body =
      `{"action":"buy","type":"limit","limitPriceCents":${NEAR_CENTS},"side":"yes","count":1,` +
      `"instrumentId":"${instrumentId}","idempotencyKey":"probe-${this.#orders++}"}`;
    const head = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    const request = `POST ${this.#base}/portfolio/orders ${this.#head}${head}\r\n${body}`;
    const id = /"orderId":"([0-9a-f-]{36})"/.exec(await this.#send(request))?.[1];
    if (id === undefined) throw new Error('the order of a probe was refused');
    return id;
  }

  #get(path: string): Promise<string> {
    return this.#send(`GET ${this.#base}${path} ${this.#head}\r\n`);
  }

  async #send(request: string): Promise<string> {
    if (!this.#connection.isOpen) this.#connection = await HttpConnection.open(this.#port);
    return await new Promise((resolve, reject) => {
      this.#connection.onAnswer = ({ status, text, bodyStart }: Answer) => {
        const body = text.slice(bodyStart);
        if (status === 200) resolve(body);
        else reject(new Error(`the server answered ${status}: ${body}`));
      };
      this.#connection.onLost = (reason) => reject(new Error(reason));
      this.#connection.send(request, performance.now());
    });
  }

  async #until(condition: () => Promise<boolean>): Promise<void> {
    const endsMs = performance.now() + WAITED_MAX_MS;
    while (!(await condition())) {
      if (performance.now() > endsMs) throw new Error('what a probe waits for does not show');
    }
  }
}
