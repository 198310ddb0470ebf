/**
 * Operators of a cluster, at every node: they make users and keys, end keys, and settle markets by words
 * that contradict each other, while nodes and etcd fail. What was answered must be true on each node.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../bench/lib/eventually.ts';
import type { RandomSource } from '../../model/random-source.ts';
import type { Json } from '../client.ts';

const ANSWERS_WITHIN_MS = 8000;
const LOOKS_WITHIN_MS = 1500;
const BETWEEN_TRIES_MS = 50;
const BETWEEN_CHANGES_MS = 100;
/** Of the keys that ended, and of those that did not, the last ones are asked for on each node. */
const KEYS_CHECKED = 100;

type Answer = { status: number; body: Json };
type NodeAddress = { baseUrl: string; adminUrl: string };

export class ClusterOperators {
  readonly counts = new Map<string, number>();
  /** By market, the result that an operator was told. */
  readonly settled = new Map<string, string>();
  /** Tokens of keys that were made, and of those that were ended. */
  readonly #live = new Map<string, string>();
  readonly #ended = new Set<string>();
  readonly #emails: string[] = [];
  readonly #nodes: readonly NodeAddress[];
  readonly #token: string;
  readonly #random: RandomSource;
  readonly #breach: (what: string) => void;
  #at = 0;
  #isStopped = false;
  #work: Promise<unknown> = Promise.resolve();

  /** @param token of the admin listener, the same on each node */
  constructor(
    nodes: readonly NodeAddress[],
    token: string,
    random: RandomSource,
    breach: (what: string) => void,
  ) {
    this.#nodes = nodes;
    this.#token = token;
    this.#random = random;
    this.#breach = (what) => breach(`operator: ${what}`);
  }

  /** How many changes of users and keys were answered. */
  get changes(): number {
    return this.#emails.length + this.#live.size + 2 * this.#ended.size;
  }

  /** Changes users and keys until `stop`. */
  start(): void {
    this.#work = this.#change();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  /** Two operators settle a market at two nodes, each by a word of its own. One of them counts. */
  async settle(market: string): Promise<void> {
    const words = this.#random.oneIn(2) ? ['yes', 'no'] : ['no', 'void'];
    const answers = await Promise.all(
      words.map((result, nth) =>
        this.#untilTaken(nth, 'POST', '/admin/settlements', { market, result }),
      ),
    );
    const taken = words.filter((_, nth) => answers[nth]!.status === 200);
    // A venue may have been the first.
    if (taken.length > 1) this.#breach(`${market} was settled as ${taken.join(' and ')}`);
    if (taken.length === 1) this.settled.set(market, taken[0]!);
    for (const { status, body } of answers) {
      if (status === 200 || body?.error?.code === 'market_resolved') continue;
      this.#breach(`a settlement of ${market}: ${show({ status, body })}`);
    }
  }

  /** Each user and key that was answered is there on each node, and no key that has ended. */
  async check(): Promise<void> {
    for (const [at, { adminUrl }] of this.#nodes.entries()) {
      for (const token of [...this.#live.values()].slice(-KEYS_CHECKED)) {
        const status = await this.#decided(at, token);
        if (status !== 200) this.#breach(`node ${at} answers a key that did not end by ${status}`);
      }
      for (const token of [...this.#ended].slice(-KEYS_CHECKED)) {
        const status = await this.#decided(at, token);
        if (status !== 401) this.#breach(`node ${at} answers a key that has ended by ${status}`);
      }
      for (const email of this.#emails.slice(-KEYS_CHECKED)) {
        const { body } = await eventually('the users of a node', async () => {
          const answer = await this.#ask('GET', `${adminUrl}/admin/users?search=${email}`);
          return answer.status === 200 ? answer : null;
        });
        if (body.users.length !== 1) this.#breach(`node ${at} does not have the user ${email}`);
      }
    }
  }

  async #change(): Promise<void> {
    for (let n = 0; !this.#isStopped; n++) {
      const email = `made-${n}@example.com`;
      const made = await this.#untilTaken(n, 'POST', '/admin/users', { email, plan: 'basic' });
      // A try without an answer may have made it.
      if (made.status === 200 || made.status === 201) {
        this.#emails.push(email);
        await this.#changeKeys(made.body.user.id);
      }
      await sleep(BETWEEN_CHANGES_MS);
    }
  }

  async #changeKeys(userId: string): Promise<void> {
    const body = { userId, scopes: ['markets:read'] };
    const [kept, other] = [
      await this.#untilTaken(0, 'POST', '/admin/keys', body),
      await this.#untilTaken(1, 'POST', '/admin/keys', body),
    ];
    for (const { status, body: answer } of [kept, other]) {
      if (status >= 300) return this.#breach(`a key: ${show(answer)}`);
    }
    this.#live.set(kept.body.key.id, kept.body.token);
    const ended = await this.#untilTaken(2, 'DELETE', `/admin/keys/${other.body.key.id}`);
    // An earlier try may have ended it.
    if (ended.status !== 200 && ended.status !== 404) this.#breach(`an end: ${show(ended)}`);
    this.#ended.add(other.body.token);
    // Else a try before it may be the one that ended it, and some node may not have applied it yet.
    if (ended.status !== 200) return;
    for (const at of this.#nodes.keys()) {
      const status = await this.#statusOf(at, other.body.token);
      if (status === 200) this.#breach(`node ${at} lets a key in after its end was answered`);
    }
  }

  /** Of a call by a key, which each node answers by itself; 0: no answer came. */
  async #statusOf(at: number, token: string): Promise<number> {
    const url = `${this.#nodes[at]!.baseUrl}/instruments?limit=1`;
    return (await this.#ask('GET', url, undefined, { token, withinMs: LOOKS_WITHIN_MS })).status;
  }

  /** The same, once the node can know it. */
  async #decided(at: number, token: string): Promise<number> {
    return await eventually('an answer to a key', async () => {
      const status = await this.#statusOf(at, token);
      return status === 0 || status === 503 ? null : status;
    });
  }

  /** The same request, at the node with this number first, until a node takes or refuses it. */
  async #untilTaken(first: number, method: string, where: string, body?: Json): Promise<Answer> {
    let at = (this.#at + first) % this.#nodes.length;
    return await eventually(
      'an answer for an operator',
      async () => {
        const answer = await this.#ask(method, this.#nodes[at]!.adminUrl + where, body);
        const { code, leader } = answer.body?.error ?? {};
        this.#count(answer.status === 0 ? 'no answer' : (code ?? 'taken'));
        if (answer.status !== 0 && answer.status !== 503) {
          this.#at = at;
          return answer;
        }
        const named = this.#nodes.findIndex(({ baseUrl }) => baseUrl === `${leader}/v1`);
        at = named === -1 ? (at + 1) % this.#nodes.length : named;
        await sleep(BETWEEN_TRIES_MS);
        return null;
      },
      { everyMs: 0 },
    );
  }

  /** Status 0: no answer came. */
  async #ask(
    method: string,
    url: string,
    body?: Json,
    { token = this.#token, withinMs = ANSWERS_WITHIN_MS } = {},
  ): Promise<Answer> {
    try {
      const answer = await fetch(url, {
        method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(withinMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: await answer.json() };
    } catch {
      return { status: 0, body: null };
    }
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

const show = (answer: unknown): string => JSON.stringify(answer).slice(0, 300);
