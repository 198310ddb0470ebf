/** A server that npm started ends with npm, however npm ends. */
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../bench/lib/eventually.ts';
import { longTest } from '../long-test.ts';
import { variantsOfRun } from '../model/seeds.ts';
import { Command, LISTENS, run, tempDir } from './server.ts';

const start = { program: 'npm', args: ['start'] };
const npx = { program: 'npm', args: ['exec', '--', 'paperbook', 'serve'] };

/** A check of each change has the one that a server does not see. */
for (const signal of variantsOfRun(['SIGKILL', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const)) {
  test.serial(`${signal} to npm start leaves no server running`, async (t) => {
    const command = new Command([], { launcher: start, env: envOf(t) });
    t.teardown(() => command.endGroup());
    await command.printed(/^Ctrl-C stops it/m);
    // It ends once nobody holds its output any more, so with the server and not before it.
    const { stdout } = await command.end(signal);
    t.regex(stdout, /\nStopped\. [^\n]+\n$/, 'and it stopped cleanly');
  });
}

// A lone SIGINT ends neither npx nor the shell that it runs: that waits for its command.
for (const signal of ['SIGTERM', 'SIGKILL', 'SIGHUP'] as const) {
  longTest.serial(`${signal} to npx paperbook serve leaves no server running`, async (t) => {
    const command = new Command([], { launcher: npx, env: envOf(t) });
    t.teardown(() => command.endGroup());
    await command.printed(LISTENS);
    const { stderr } = await command.end(signal);
    t.regex(stderr, /"msg":"stopped"\}\n/, 'and it stopped cleanly');
  });
}

test.serial('U3: a server that leads a session of its own outlives what started it', async (t) => {
  const env = { ...envOf(t), npm_lifecycle_event: 'start' };
  const args = ['-c', 'setsid "$@" & wait', 'sh'];
  const launcher = { program: 'sh', args, takesCommand: true };
  const command = new Command(['serve'], { launcher, env });
  t.teardown(() => command.endGroup());
  await command.printed(LISTENS);
  const [, baseUrl] = LISTENS.exec(command.output.stdout)!;
  const { stderr } = await run(['serve'], { env });
  const pid = Number(/\(process (\d+)\)/.exec(stderr)![1]);
  t.teardown(() => endIfThere(pid));
  command.signal('SIGKILL');
  await eventually('the end of the shell', async () => (command.hasExited ? true : null));
  await new Promise((resolve) => setTimeout(resolve, LOOKS_AGAIN_WITHIN_MS));
  t.true((await fetch(`${baseUrl}/status`)).ok);
  process.kill(pid, 'SIGTERM');
  t.regex((await command.ended).stderr, /"reason":"SIGTERM"/);
});

/** More than once in this time a server looks for what started it. */
const LOOKS_AGAIN_WITHIN_MS = 1500;

function envOf(t: ExecutionContext): Record<string, string> {
  return { PAPERBOOK_DATA_DIR: path.join(tempDir(t), 'data') };
}

function endIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended as it should have.
  }
}
