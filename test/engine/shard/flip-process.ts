/**
 * Opens and verifies shards, or control stores, with one changed byte, one after the other. Damage
 * inside LMDB's file can end a process, so this one may end. Takes the task, sends a line per flip.
 */
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ControlStore } from '../../../api/identity/store.ts';
import { auditControl } from '../../../api/ops/audit.ts';
import { digest } from '../../../engine/audit/digest.ts';
import { verifyShard } from '../../../engine/verify/verify.ts';
import { flip, randomOf } from '../log/log-files.ts';
import { contentsOf } from './control-contents.ts';
import { openShard } from './environment.ts';

export type FlipTask = {
  what: 'shard' | 'control';
  /** A directory of a shard or of a server, and the sizes of its flipped files. */
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

async function run({ what, base, files, work, from, until }: FlipTask): Promise<void> {
  for (let seed = from; seed < until; seed++) {
    const change = flipOf(seed, files);
    await send({ flip: change, seen: null });
    const directory = path.join(work, String(seed));
    cpSync(base, directory, { recursive: true });
    flip(path.join(directory, change.file), change.offset, change.mask);
    await send({ flip: change, seen: await LOOKS[what](directory) });
    rmSync(directory, { recursive: true });
  }
}

type Look = (directory: string) => Promise<NonNullable<FlipResult['seen']>>;
const LOOKS: Record<FlipTask['what'], Look> = { shard: lookAtShard, control: lookAtControl };

async function lookAtShard(directory: string) {
  const verify = await verifyShard(directory, 0, 1).then(
    (found) => found?.problems ?? ['there is no shard'],
    (error: Error) => [error.message],
  );
  return await started(verify, async () => {
    const shard = await openShard(directory);
    const state = JSON.stringify(digest(shard.state));
    await shard.abandon();
    return state;
  });
}

async function lookAtControl(dataDir: string) {
  const verify = await auditControl(dataDir).then(
    (found) => found?.problems ?? ['there is no control store'],
    (error: Error) => [error.message],
  );
  return await started(verify, async () => {
    const store = new ControlStore(dataDir);
    try {
      // As a server does once it has started. Rule D70 (engine/RULES.md).
      const checking = store.check();
      let step = checking.next();
      while (step.done !== true) step = checking.next();
      if (step.value.length > 0) throw new Error(step.value.join('; '));
      return JSON.stringify(contentsOf(store));
    } finally {
      await store.close();
    }
  });
}

async function started(verify: string[], start: () => Promise<string>) {
  try {
    return { verify, start: 'started', state: await start() };
  } catch (error) {
    return { verify, start: (error as Error).message, state: null };
  }
}

function send(result: FlipResult): Promise<void> {
  return new Promise((resolve) => process.send!(result, () => resolve()));
}
