/** The far end of the hop: a batch with an order is one durable LMDB put; answers are fixed. */
import { workerData } from 'node:worker_threads';
import { open } from 'lmdb';
import { Packr } from 'msgpackr';
import { move } from 'piscina';

/** `texts`: answers by name; the answers of `orders` are sent once the batch is on disk. */
export type HopData = { dir: string; texts: Record<string, string>; orders: string[] };

const { dir, texts, orders } = workerData as HopData;
/** About as many as a shard keeps between two checkpoints. */
const KEPT_BATCHES = 2000;

const packr = new Packr({ useRecords: false });
const root = open({ path: dir, maxDbs: 8, encoding: 'binary' });
const journal = root.openDB<Buffer, number>({ name: 'journal', encoding: 'binary' });
let sequence = 0;

export default function run(task: Uint8Array): Uint8Array {
  const requests = packr.unpack(task) as [answer: string][];
  if (requests.some(([answer]) => orders.includes(answer))) {
    sequence++;
    root.transactionSync(() => {
      journal.put(sequence, Buffer.from(task.buffer, task.byteOffset, task.byteLength));
      journal.remove(sequence - KEPT_BATCHES);
    });
  }
  const answers = new Uint8Array(packr.pack(requests.map(([answer]) => texts[answer])));
  return move(answers) as unknown as Uint8Array;
}
