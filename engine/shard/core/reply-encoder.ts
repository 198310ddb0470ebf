/**
 * The answers to a batch, written as consecutive frames, as they go into the ring. No answer
 * becomes an object or a string on its way.
 */
import { beginAnswer, endAnswer, type Message, repliesIn, writeReply } from '../../format/codec.ts';
import { JsonWriter } from '../../format/json-writer.ts';
import { applyTick, showQuotes } from '../../rules/apply-tick.ts';
import type { FactSink } from '../../rules/fact-sink.ts';
import type { Command, Refusal, Reply, SetFees, SetSwitches } from '../../rules/messages.ts';
import type { Query } from '../../rules/queries.ts';
import { settleBeforeAnswer, showsHalfSettled } from '../../rules/settle-before-answer.ts';
import type { ShardState } from '../../rules/state.ts';
import { isCommand, isSetting, isTick } from './message-kinds.ts';
import { answerQuery, execute, takeSetting } from './requests.ts';

/** The facts of a batch, and how many there are so far. */
type BatchFacts = FactSink & { readonly count: number };

export class ReplyEncoder {
  readonly #json = new JsonWriter();
  #count = 0;
  #refusedOrders = 0;

  /** Begins an empty batch, even after a failed one. */
  begin(): void {
    this.#json.bytes.begin();
    this.#count = 0;
  }

  get count(): number {
    return this.#count;
  }

  /** The orders that a rule refused since the last call. */
  takeRefusedOrders(): number {
    const orders = this.#refusedOrders;
    this.#refusedOrders = 0;
    return orders;
  }

  /** Of all frames so far, in bytes. */
  get length(): number {
    return this.#json.bytes.length;
  }

  /** Valid until the next answer is added. */
  get frames(): Buffer {
    const { bytes } = this.#json;
    return bytes.view(0, bytes.length);
  }

  /** The frames read back; null: the command was not taken. */
  replies(): (Reply | null)[] {
    return repliesIn(this.frames);
  }

  /** Applies a message, and answers it unless it is a tick; `lastNumber`: before these facts. */
  message(state: ShardState, message: Message, facts: BatchFacts, lastNumber: number): void {
    if (isTick(message)) return applyTick(state, message, facts);
    if (isCommand(message)) return this.command(state, message, facts);
    settleBeforeAnswer(state, message, facts);
    this.query(state, message, lastNumber + facts.count);
  }

  /**
   * Shows a tick or answers a message while no fact can be written. A message that needs a fact
   * gets null.
   */
  withoutFacts(state: ShardState, message: Message, lastNumber: number): void {
    if (isTick(message)) return showQuotes(state, message);
    if (isSetting(message)) return this.setting(state, message);
    if (isCommand(message) || showsHalfSettled(state, message)) return this.reply(null);
    this.query(state, message, lastNumber);
  }

  command(state: ShardState, command: Command, facts: FactSink): void {
    const start = this.#begin();
    const { refusal, limits } = execute(state, command, facts, this.#json);
    if (refusal !== null && command.kind === 'place') this.#refusedOrders++;
    endAnswer(this.#json.bytes, start, refusal, limits);
  }

  /** @param lastNumber of the last fact that the state contains */
  query(state: ShardState, query: Query, lastNumber: number): void {
    const start = this.#begin();
    this.#end(start, answerQuery(state, query, this.#json, lastNumber));
  }

  setting(state: ShardState, setting: SetSwitches | SetFees): void {
    const start = this.#begin();
    this.#end(start, takeSetting(state, setting, this.#json));
  }

  /** Null: a command that the disk has no room for. */
  reply(reply: Reply | null): void {
    this.#count++;
    writeReply(this.#json.bytes, reply);
  }

  #begin(): number {
    this.#count++;
    return beginAnswer(this.#json.bytes);
  }

  #end(start: number, refusal: Refusal | null): void {
    endAnswer(this.#json.bytes, start, refusal, null);
  }
}
