/**
 * Opens and verifies shards of which one byte was changed, one after the other. Damage inside LMDB's
 * file can end a process, so this one may end. Takes the task, sends a line a flip.
 */
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { digest } from '../../../engine/audit/digest.ts';
import { verifyShard } from '../../../engine/shard/verify.ts';
import { flip, randomOf } from '../log/log-files.ts';
import { openShard } from './environment.ts';

export type FlipTask = {
  /** A directory of a shard, and the sizes of the files of it that are flipped. */
  base: string;
  files: { name: string; bytes: number }[];
  /** Where to work. */
  work: string;
  from: number;
  until: number;
};
export type Flip = { seed: number; file: string; offset: number; mask: number };
export type FlipResult = {
  flip: Flip;
  /** Null: the flip begins now. */
  seen: { verify: string[]; start: string; state: string | null } | null;
};

/** Files take turns, so that a small one is not left out. */
function flipOf(seed: number, files: FlipTask['files']): Flip {
  const random = randomOf(seed * 7919 + 1);
  for (let skipped = 0; skipped < 5; skipped++) random();
  const { name, bytes } = files[seed % files.length]!;
  const offset = Math.floor(random() * bytes);
  return { seed, file: name, offset, mask: 1 + Math.floor(random() * 255) };
}

process.once('message', (task: FlipTask) => {
  void run(task).then(() => process.disconnect());
});

async function run({ base, files, work, from, until }: FlipTask): Promise<void> {
  for (let seed = from; seed < until; seed++) {
    const change = flipOf(seed, files);
    await send({ flip: change, seen: null });
    const directory = path.join(work, String(seed));
    cpSync(base, directory, { recursive: true });
    flip(path.join(directory, change.file), change.offset, change.mask);
    await send({ flip: change, seen: await look(directory) });
    rmSync(directory, { recursive: true });
  }
}

async function look(directory: string): Promise<NonNullable<FlipResult['seen']>> {
  const verify = await verifyShard(directory, 0, 1).then(
    (found) => found?.problems ?? ['there is no shard'],
    (error: Error) => [error.message],
  );
  try {
    const shard = await openShard(directory);
    const state = JSON.stringify(digest(shard.state));
    await shard.abandon();
    return { verify, start: 'started', state };
  } catch (error) {
    return { verify, start: (error as Error).message, state: null };
  }
}

function send(result: FlipResult): Promise<void> {
  return new Promise((resolve) => process.send!(result, () => resolve()));
}
