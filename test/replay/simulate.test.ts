/** `feed simulate` as a command. */
import { type ChildProcess, spawn } from 'node:child_process';
import test, { type ExecutionContext } from 'ava';
import { WebSocket } from 'ws';
import { until } from '../feeds/until.ts';
import { commandEntry } from '../process/server.ts';
import { files } from './files.ts';

type Running = { child: ChildProcess; text: () => string; end: () => Promise<unknown> };

function simulate(t: ExecutionContext, ...args: string[]): Running {
  const child = spawn(process.execPath, [commandEntry(), 'feed', 'simulate', ...args]);
  t.teardown(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout.on('data', (piece) => {
    text += piece;
  });
  const end = () => {
    child.kill('SIGINT');
    return new Promise((resolve) => child.once('close', resolve));
  };
  return { child, text: () => text, end };
}

test('N44: one line of addresses, the same for the same port, until SIGINT', async (t) => {
  const { feed } = files(t, {});
  const first = simulate(t, feed, '--json', '--speed', 'max');
  await until(() => first.text().endsWith('\n'), 'a line');
  const { feeds } = JSON.parse(first.text());
  const { port, pathname } = new URL(feeds[0].url);
  t.deepEqual(
    [feeds.length, feeds[0].venue, feeds[0].adapter, pathname],
    [...[1, 'venue_a', 'native'], '/venue_a/native'],
  );
  const frames: string[] = [];
  const socket = new WebSocket(feeds[0].url);
  socket.on('open', () => socket.send('{"op":"subscribe","markets":["*"]}'));
  socket.on('message', (data) => frames.push(String(data)));
  await until(() => frames.length === 3, 'the whole file');
  t.is(socket.readyState, WebSocket.OPEN, 'it stays there at the end of the file');
  socket.on('error', () => {});
  t.is(await first.end(), 0);
  const second = simulate(t, feed, '--json', '--port', port);
  await until(() => second.text().endsWith('\n'), 'a line');
  t.is(second.text(), first.text());
  t.is(await second.end(), 0);
});
