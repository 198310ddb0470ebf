/** A server in this process on the catalog of scenario.ts, into which feed files are replayed. */
import type { Paperbook } from '../../api/main.ts';
import { type Ending, startOnFeedClock } from '../api/on-feed-clock.ts';
import { runHere } from '../process/run-here.ts';
import { HEADER, tempDir, writeLines } from './harness.ts';
import { CATALOG } from './scenario.ts';

export type Running = {
  paperbook: Paperbook;
  /** `feed replay` of a file of these lines into it. */
  replay(lines: readonly unknown[], ...args: string[]): ReturnType<typeof runHere>;
  /** The shown quote of CATALOG's first or third instrument: prices by venue, or why not. */
  shown(instrument: 0 | 2): Promise<Record<string, unknown>>;
  /** Its time, as ISO 8601. */
  clock(): string;
};

const QUIET = { info() {}, warn() {}, error() {} };

export async function startRunning(t: Ending, env: Record<string, string> = {}): Promise<Running> {
  const work = tempDir(t);
  const { paperbook, dataDir } = await startOnFeedClock(t, {
    directory: work,
    catalogFile: writeLines(work, 'catalog.json', [CATALOG]),
    log: QUIET,
    env,
  });
  const { engine, adminUrl } = paperbook;
  const { instrumentIds } = paperbook.identity.numbers()!;
  return {
    paperbook,
    replay(lines, ...args) {
      const feed = writeLines(work, 'feed.jsonl', [HEADER, ...lines]);
      return runHere(['feed', 'replay', feed, '--server', adminUrl, '--json', ...args], {
        env: { PAPERBOOK_DATA_DIR: dataDir },
      });
    },
    async shown(instrument) {
      await engine.drained();
      const reply = await engine.quote(instrumentIds[instrument]!, engine.nowMs());
      if (!reply.ok) return { refused: reply.code };
      const { venues, omitted } = JSON.parse(reply.body);
      return Object.fromEntries([
        ...venues.map((each: ShownVenue) => [each.venue, [each.yesBidCents, each.yesAskCents]]),
        ...omitted.map((each: { venue: string; note: string }) => [each.venue, each.note]),
      ]);
    },
    clock: () => new Date(engine.nowMs()).toISOString(),
  };
}

type ShownVenue = { venue: string; yesBidCents: number | null; yesAskCents: number | null };
