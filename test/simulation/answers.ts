/** Questions to a shard and to the model, and their answers side by side. */
import { deepStrictEqual, strictEqual } from 'node:assert';
import type { Message } from '../../engine/format/codec.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import type { NaiveModel } from '../model/naive-engine.ts';
import type { Step } from '../model/random-input.ts';

export function messageOf(step: Step): Message {
  switch (step.on) {
    case 'tick':
      return step.tick;
    case 'command':
      return step.command;
    case 'query':
      return step.query;
  }
}

/** The model's actions and answers. Ticks are not answered. */
export function answerOf(model: NaiveModel, step: Step): Reply | null {
  switch (step.on) {
    case 'tick':
      model.tick(step.tick);
      return null;
    case 'command':
      return model.command(step.command);
    case 'query':
      return model.query(step.query);
  }
}

/** Refusals are compared by their code; their sentences are for people. */
export function sameAnswers(asked: Message[], actual: Reply[], expected: Reply[]): void {
  strictEqual(actual.length, expected.length, 'as many answers as questions');
  for (const [at, message] of asked.entries()) {
    const of = (reply: Reply) =>
      reply.ok ? { ...reply, body: JSON.parse(reply.body) } : { ...reply, message: '' };
    deepStrictEqual(
      { asked: message, answer: of(actual[at]!) },
      { asked: message, answer: of(expected[at]!) },
    );
  }
}
