/**
 * A channel of the stream. Its state is sent once as a snapshot, and then as numbered messages that
 * are the same for every client. Rule J7 (api/RULES.md).
 */
import { isoOf } from '../../engine/base/units.ts';
import { NotLeader } from '../../engine/threads/unavailable.ts';
import { errorBody, type Refusal } from '../base/errors.ts';
import { busyRefusal } from '../dispatch/refusals.ts';
import { type Encoding, JSON_TEXT, MSGPACK } from './encoding.ts';

/** A connection, as a channel sees it. */
export interface Member {
  readonly encoding: Encoding;
  /** Sends JSON text at once, after everything that was sent before. */
  send(text: string): void;
  /** From now on it gets all messages published to the topic. */
  follow(topic: string): void;
  unfollow(topic: string): void;
  /** Whether it may be sent the data of its account's channel; if not, the channel ends. */
  permits(channel: Channel): boolean;
  /** The channel ends for it. Called after `begin`. */
  end(channel: Channel, why: ChannelEnd): void;
}

export interface Channel {
  readonly name: string;
  /** The number of its last message; 0: there was none. */
  readonly seq: number;
  /**
   * Sends a snapshot, now or once it is known, and each later change. `after`: the number of the
   * event that it knows, for channels that can continue from there.
   */
  begin(member: Member, after?: number | null): void;
  /** Sends nothing more, until it begins again. Called between `begin` and the next one. */
  pause(member: Member): void;
  /** Called once, when a connection has unsubscribed or is closed. */
  release(): void;
}

/** Counts the connections that have a channel: it does its work while there is one. */
export abstract class SharedChannel {
  #holders = 0;

  protected get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** One more connection has it, which will release it. */
  taken(): this {
    this.#holders++;
    if (this.#holders === 1) this.firstTook();
    return this;
  }

  release(): void {
    this.#holders--;
    if (this.#holders === 0) this.lastReleased();
  }

  protected firstTook(): void {}

  protected abstract lastReleased(): void;
}

export type Publish = (topic: string, message: string | Uint8Array, isBinary: boolean) => void;

/** The numbers of messages by channel. They outlive connections and channels, but no restart. */
export class Numbering {
  /** A restart makes another one. */
  readonly epoch: number;
  readonly #last = new Map<string, number>();

  constructor(epoch: number) {
    this.epoch = epoch;
  }

  last(name: string): number {
    return this.#last.get(name) ?? 0;
  }

  next(name: string): number {
    const seq = this.last(name) + 1;
    this.#last.set(name, seq);
    return seq;
  }
}

/** JSON text of a message. `marks`: more members, with a comma after each. */
export function messageText(
  { name, epoch, seq }: { name: string; epoch: number; seq: number | null },
  atMs: number,
  marks: string,
  data: string,
): string {
  const numbered = seq === null ? '' : `"seq":${seq},`;
  return (
    `{"channel":${JSON.stringify(name)},"epoch":${epoch},${numbered}"at":"${isoOf(atMs)}",` +
    `${marks}"data":${data}}`
  );
}

/** A client has missed messages of a channel: a snapshot follows. */
export function gapText(name: string): string {
  return `{"channel":${JSON.stringify(name)},"gap":true}`;
}

/** Why a channel ends. */
export type ChannelEnd = Pick<Refusal, 'code' | 'message' | 'leader'>;

/** The end of a channel that another node of the cluster has; null: this node has it, or may soon. */
export function elsewhere(error: unknown): ChannelEnd | null {
  return error instanceof NotLeader && error.leader !== null ? busyRefusal(error) : null;
}

/** The channel sends nothing more to the client. */
export function endedText(name: string, { code, message, leader }: ChannelEnd): string {
  const body = errorBody(code, message, null, undefined, leader);
  const { error } = JSON.parse(body) as { error: object };
  return JSON.stringify({ channel: name, ended: true, error });
}

export type TopicChannelOptions = {
  name: string;
  numbering: Numbering;
  publish: Publish;
  nowMs(): number;
};

/** A channel whose messages are encoded once for all, and published. */
export abstract class TopicChannel extends SharedChannel implements Channel {
  readonly name: string;
  readonly #options: TopicChannelOptions;
  readonly #topics: Record<Encoding['name'], string>;
  /** The data of a snapshot; null: not known yet. */
  #snapshot: (() => string) | null = null;
  readonly #waiting = new Set<Member>();
  /** The followers, by their encoding. */
  readonly #following: Record<Encoding['name'], number> = { json: 0, msgpack: 0 };

  constructor(options: TopicChannelOptions) {
    super();
    this.name = options.name;
    this.#options = options;
    this.#topics = { json: options.name, msgpack: `${options.name} msgpack` };
  }

  get seq(): number {
    return this.#options.numbering.last(this.name);
  }

  begin(member: Member): void {
    if (this.#snapshot === null) {
      this.#waiting.add(member);
      return;
    }
    member.send(this.#text('"snapshot":true,', this.#snapshot()));
    const { name } = member.encoding;
    member.follow(this.#topics[name]);
    this.#following[name]++;
  }

  pause(member: Member): void {
    if (this.#waiting.delete(member)) return;
    const { name } = member.encoding;
    member.unfollow(this.#topics[name]);
    this.#following[name]--;
  }

  /** The data of a snapshot is known now: JSON text, asked for whenever one is sent. */
  know(snapshot: () => string): void {
    this.#options.numbering.next(this.name);
    this.#snapshot = snapshot;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const member of waiting) this.begin(member);
  }

  /** Data may have changed that was sent to nobody. */
  renumber(): void {
    this.#options.numbering.next(this.name);
  }

  /** Sends a change; snapshots contain it already. @param data JSON text */
  change(data: string): void {
    const { numbering, publish } = this.#options;
    numbering.next(this.name);
    const text = this.#text('', data);
    for (const { name, isBinary, write } of [JSON_TEXT, MSGPACK]) {
      if (this.#following[name] > 0) publish(this.#topics[name], write(text), isBinary);
    }
  }

  #text(marks: string, data: string): string {
    const { numbering, nowMs } = this.#options;
    const { name, seq } = this;
    return messageText({ name, epoch: numbering.epoch, seq }, nowMs(), marks, data);
  }
}
