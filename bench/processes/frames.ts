/** The demo's server, and beside its API a port that takes orders as WebSocket messages. */
import { startDemo } from '../../api/cli/demo.ts';
import { stopRequest } from '../../api/cli/stop.ts';
import { startServer } from '../../api/server.ts';
import { listenForFrames } from './frame-listener.ts';

const stopped = stopRequest();
const demo = await startDemo(process.env, async (deps) => {
  const server = await startServer(deps);
  const frames = await listenForFrames(deps);
  process.stdout.write(`frames on ${frames.port}\n`);
  return {
    ...server,
    close: async () => {
      frames.close();
      await server.close();
    },
  };
});
process.stdout.write(`${demo.welcome}\n`);
await stopped;
await demo.close();
