/** The state of the stream in words. */
import type { LiveConnection } from './live.ts';

export type ConnectionWords = { word: string; detail: string | null };

export function connectionWords(connection: LiveConnection, nowMs: number): ConnectionWords {
  switch (connection.state) {
    case 'off':
      return { word: 'Not connected', detail: null };
    case 'connecting':
      return { word: 'Connecting', detail: null };
    case 'open':
      return { word: 'Live', detail: null };
    case 'waiting': {
      const seconds = Math.max(0, Math.ceil((connection.untilMs - nowMs) / 1000));
      return {
        word: `Reconnecting in ${seconds} s`,
        detail: `Prices are not live: ${connection.why}`,
      };
    }
    case 'refused':
      return { word: 'No live data', detail: `The server refuses the stream: ${connection.why}` };
    default:
      return connection satisfies never;
  }
}
