/** Takes frames out of a ring, checks each, and answers with one of another size. */
import { setImmediate as turn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type ChannelMemory, Endpoint } from '../../../engine/ring/endpoint.ts';
import { faultOf, numberedFrame, randomNumbers } from './frames.ts';

export type Echo = { channel: ChannelMemory; frames: number; answerBytesMax: number };

const { channel, frames, answerBytesMax } = workerData as Echo;
const end = new Endpoint(channel, 'shard');
// A thread that only waits for a bell does not keep its event loop alive.
parentPort!.on('message', () => undefined);
const random = randomNumbers(2);
for (let number = 0; number < frames; ) {
  if (!end.isReady()) {
    // Both ways of sleeping, as a shard has them.
    if (random(4) > 0) end.sleep();
    else await (end.sleepAsync() ?? turn());
    continue;
  }
  const fault = faultOf(end.next(), number);
  if (fault !== null) throw new Error(fault);
  end.sendBlocking(numberedFrame(number, random(answerBytesMax)));
  number++;
}
parentPort!.close();
