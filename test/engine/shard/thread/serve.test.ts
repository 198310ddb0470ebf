/** What a shard's thread does, with a shard that only notes what it is asked. */
import test, { type ExecutionContext } from 'ava';
import { ByteWriter } from '../../../../engine/format/bytes.ts';
import { type Message, type Sent, writeMessage } from '../../../../engine/format/codec.ts';
import { channelMemory, Endpoint } from '../../../../engine/ring/endpoint.ts';
import { ShardEnds } from '../../../../engine/ring/shard-ends.ts';
import type { Reply } from '../../../../engine/rules/messages.ts';
import { ShardLink } from '../../../../engine/shard/callers/shard-link.ts';
import type { Batch } from '../../../../engine/shard/core/batch.ts';
import type { ReplyEncoder } from '../../../../engine/shard/core/reply-encoder.ts';
import { type Served, serve } from '../../../../engine/shard/thread/serve.ts';
import { NOON_MS, quoteTick } from '../../fixtures.ts';

/** Takes everything, answers queries with their time, and is written to as often as is asked. */
class NotedShard implements Served {
  readonly batches: Message['kind'][][] = [];
  isWriting = true;
  isBehind = false;
  /** Ends `caughtUp`. */
  catchUp: () => void = () => undefined;
  diskErrno = 0;
  /** Slices that results have left. */
  slices = 0;
  isSettlingPaused = false;
  onSlice: () => void = () => undefined;
  /** Called before each message. */
  onMessage: (message: Message) => void = () => undefined;

  caughtUp(): Promise<void> {
    return new Promise((resolve) => {
      this.catchUp = () => {
        this.isBehind = false;
        resolve();
      };
    });
  }

  settleSlice(): boolean {
    if (this.slices === 0 || this.isSettlingPaused) return false;
    this.slices--;
    this.batches.push([]);
    this.onSlice();
    return true;
  }

  answer(messages: Batch, answers: ReplyEncoder): void {
    const kinds: Message['kind'][] = [];
    this.batches.push(kinds);
    for (const message of messages) {
      this.onMessage(message);
      kinds.push(message.kind);
      if (message.kind === 'audit') answers.reply({ ok: true, body: `at ${message.atMs}` });
    }
  }
}

/** Both ends in one thread, which works as long as the shard's never blocks it: it is writing. */
function linked(t: ExecutionContext, capacityBytes?: number) {
  const channel = channelMemory(capacityBytes);
  const shard = new NotedShard();
  const answers: string[] = [];
  let news = 0;
  const link: ShardLink = new ShardLink(new Endpoint(channel, 'caller'), () => {
    news++;
    link.receive((waiter, frame, decoder) => waiter.resolve(decoder.reply(frame)!));
  });
  const resolve = (reply: Reply) => answers.push(reply.ok ? reply.body : reply.code);
  const send = (...sent: Sent[]) => {
    const isAsked = ({ kind }: Sent) => kind === 'audit' || kind === 'barrier';
    link.send(
      sent,
      sent
        .filter(isAsked)
        .map(() => ({ resolve, reject: (error: Error) => t.fail(error.message) })),
    );
  };
  const serving = serve(shard, new ShardEnds([channel]));
  const keepsAlive = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(keepsAlive));
  return { shard, link, send, serving, answers, newsCount: () => news };
}

const audit = (atMs: number) => ({ kind: 'audit', atMs }) as const;
const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

test('what comes while a batch is taken shares its commit, and is answered with it', async (t) => {
  const { shard, send, serving, answers } = linked(t);
  shard.onMessage = (message) => {
    if (message.kind === 'quote') send(audit(2));
  };
  send(audit(1), quoteTick());
  await until(() => answers.length === 2);
  t.deepEqual(shard.batches, [['audit', 'quote', 'audit']]);
  t.deepEqual(answers, ['at 1', 'at 2']);
  send({ kind: 'close' });
  await serving;
});

test('D43: while its checkpoint is late, a shard takes no batch', async (t) => {
  const { shard, send, serving, answers } = linked(t);
  shard.onMessage = () => {
    shard.isBehind = true;
  };
  send(audit(1));
  await until(() => answers.length === 1);
  shard.onMessage = () => undefined;
  send(audit(2), { kind: 'close' });
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(answers, ['at 1']);
  shard.catchUp();
  await serving;
  await until(() => answers.length === 2);
  t.is(shard.batches.length, 2);
});

test('D7: a batch is bounded; a barrier is answered after all that came before it', async (t) => {
  const { shard, send, serving, answers } = linked(t);
  send(...Array.from({ length: 300 }, () => quoteTick()), { kind: 'barrier' }, audit(3));
  await until(() => answers.length === 2);
  t.deepEqual(
    shard.batches.map((batch) => batch.length),
    [256, 44, 1],
  );
  t.deepEqual(answers, ['', 'at 3']);
  send(audit(4), { kind: 'close' });
  await serving;
  t.is(shard.batches.length, 4, 'what came before the end is taken');
});

test('D8: the callers learn at once that the disk is full, or is not any more', async (t) => {
  const { shard, send, serving, newsCount } = linked(t);
  shard.onMessage = () => {
    shard.diskErrno = 28;
  };
  send(quoteTick());
  await until(() => newsCount() > 0);
  t.is(shard.batches.length, 1);
  send({ kind: 'close' });
  await serving;
});

test('a shard that fails ends its service; who waits is known, and who was answered is not', async (t) => {
  const { shard, link, send, serving, answers } = linked(t);
  send(audit(1));
  await until(() => answers.length === 1);
  shard.onMessage = () => {
    throw new Error('broken');
  };
  send(audit(2), audit(3));
  await t.throwsAsync(serving, { message: 'broken' });
  t.is(link.end(() => undefined).length, 2);
});

test('S15: slices of a settlement and batches take turns, and slices go on alone', async (t) => {
  const { shard, send, serving, answers } = linked(t);
  shard.onMessage = ({ atMs }) => {
    if (atMs === 1) shard.slices = 5;
  };
  shard.onSlice = () => {
    if (shard.slices >= 3) send(audit(2));
  };
  send(audit(1));
  await until(() => shard.slices === 0 && answers.length === 3);
  t.deepEqual(
    shard.batches.map((batch) => batch[0] ?? 'slice'),
    ['audit', 'slice', 'audit', 'slice', 'audit', 'slice', 'slice', 'slice'],
  );
  send({ kind: 'close' });
  await serving;
});

test('S15, D43: a settlement that waits for a checkpoint goes on without a message', async (t) => {
  const { shard, send, serving, answers } = linked(t);
  shard.isSettlingPaused = true;
  shard.slices = 2;
  send(audit(1));
  await until(() => answers.length === 1);
  t.is(shard.slices, 2);
  shard.isSettlingPaused = false;
  await until(() => shard.slices === 0);
  send({ kind: 'close' });
  await serving;
});

/** A shard with the ends of two callers, all in one thread. */
function linkedTwice(t: ExecutionContext) {
  const first = channelMemory();
  const second = channelMemory(undefined, first.shardBell);
  const shard = new NotedShard();
  const heard = { first: [] as string[], second: [] as string[] };
  const callerOf = (channel: typeof first, answers: string[]) => {
    const link: ShardLink = new ShardLink(new Endpoint(channel, 'caller'), () => {
      link.receive((waiter, frame, decoder) => waiter.resolve(decoder.reply(frame)!));
    });
    const waiter = {
      resolve: (reply: Reply) => answers.push(reply.ok ? reply.body : reply.code),
      reject: (error: Error) => t.fail(error.message),
    };
    return (...sent: Sent[]) => {
      const asked = sent.filter(({ kind }) => kind === 'audit' || kind === 'barrier');
      link.send(
        sent,
        asked.map(() => waiter),
      );
    };
  };
  const ask = {
    first: callerOf(first, heard.first),
    second: callerOf(second, heard.second),
  };
  const serving = serve(shard, new ShardEnds([first, second]));
  const keepsAlive = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(keepsAlive));
  return { shard, ask, heard, serving };
}

test('D73: messages of two callers share a batch, and each gets its own answers in their order', async (t) => {
  const { shard, ask, heard, serving } = linkedTwice(t);
  ask.first(audit(1), quoteTick(), audit(2));
  ask.second(audit(11), audit(12), { kind: 'barrier' });
  await until(() => heard.first.length === 2 && heard.second.length === 3);
  t.deepEqual(heard, { first: ['at 1', 'at 2'], second: ['at 11', 'at 12', ''] });
  t.deepEqual(shard.batches, [['audit', 'quote', 'audit', 'audit', 'audit']]);
  ask.first({ kind: 'close' });
  await serving;
});

test('D73: a flood of one caller leaves another its turn in every batch', async (t) => {
  const { shard, ask, heard, serving } = linkedTwice(t);
  const asked: number[] = [];
  shard.onMessage = (message) => {
    if (message.kind === 'audit') asked.push(message.atMs);
  };
  const some = Array.from({ length: 150 }, (_, at) => audit(1000 + at));
  ask.first(...Array.from({ length: 600 }, (_, at) => audit(at)));
  ask.second(...some);
  await until(() => heard.first.length === 600 && heard.second.length === 150);
  const places = asked.flatMap((atMs, at) => (atMs >= 1000 ? [at] : []));
  t.is(places[0], 128, 'after a share of the first batch');
  t.true(places.at(-1)! < 450, `and the last at ${places.at(-1)}`);
  t.deepEqual(
    heard.second,
    some.map(({ atMs }) => `at ${atMs}`),
    'in their order',
  );
  ask.first({ kind: 'close' });
  await serving;
});

test('D110: after a large batch the shard waits for the next, unless enough has come', async (t) => {
  const audits = (count: number): Sent[] =>
    Array.from({ length: count }, () => ({ kind: 'audit', atMs: NOON_MS }) as const);
  const bytes = (length: number): Sent[] => [{ kind: 'packed', bytes: ticksOf(length), ticks: 1 }];
  const pausesOf = async (messages: readonly Sent[], slices = 0) => {
    const channel = channelMemory();
    const shard = new NotedShard();
    shard.isWriting = false;
    shard.slices = slices;
    const link = new ShardLink(new Endpoint(channel, 'caller'), () => undefined);
    const waiter = { resolve: () => undefined, reject: (error: Error) => t.fail(error.message) };
    const sent: Sent[] = [...messages, { kind: 'close' }];
    const asks = sent.filter(({ kind }) => kind !== 'packed');
    link.send(
      sent,
      asks.map(() => waiter),
    );
    const pauses: number[] = [];
    await serve(shard, new ShardEnds([channel]), (ms) => pauses.push(ms));
    link.end(() => undefined);
    return pauses;
  };
  const barrier = { kind: 'barrier' } as const;
  t.deepEqual(await pausesOf([...audits(31), barrier]), []);
  t.deepEqual(await pausesOf([...audits(32), barrier]), [2]);
  t.deepEqual(await pausesOf([...audits(32), barrier], 1), [], 'results are settled');
  t.deepEqual(await pausesOf([...audits(32), barrier, ...bytes(15_000)]), [2]);
  t.deepEqual(await pausesOf([...audits(32), barrier, ...bytes(17_000)]), []);
});

/** Ticks of so many bytes, or a little more. */
function ticksOf(length: number): Uint8Array {
  const writer = new ByteWriter();
  writer.begin();
  while (writer.length < length) writeMessage(writer, quoteTick());
  return writer.copy();
}
