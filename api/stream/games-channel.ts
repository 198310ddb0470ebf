/** The channel `games`: each game that a venue or the catalog has changed. Rule J14 (api/RULES.md). */
import { type CatalogView, firstGames, type GameEntry, gameText } from '../catalog-view.ts';
import { TopicChannel, type TopicChannelOptions } from './channel.ts';

const LOOK_EVERY_MS = 100;

/** What of a game can change: objects and texts that are replaced, never changed. */
type Shown = Pick<GameEntry, 'game' | 'status'> & { instruments: number };

export class GamesChannel extends TopicChannel {
  readonly #catalog: CatalogView;
  /** By their ids; empty while nobody has subscribed. */
  readonly #shown = new Map<string, Shown>();
  #timer: NodeJS.Timeout | null = null;

  constructor(catalog: CatalogView, options: TopicChannelOptions) {
    super(options);
    this.#catalog = catalog;
    this.know(() => firstGames(catalog, options.nowMs()));
  }

  protected override firstTook(): void {
    this.#note(() => {});
    // Nobody saw what changed since the last one left.
    this.renumber();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  protected override lastReleased(): void {
    this.close();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#shown.clear();
  }

  #look(): void {
    this.#note((entry) => this.change(gameText(entry)));
  }

  #note(changed: (entry: GameEntry) => void): void {
    for (const entry of this.#catalog.games()) {
      const { id, game, status } = entry;
      const instruments = entry.instruments.length;
      const known = this.#shown.get(id);
      const isSame =
        known?.game === game && known.status === status && known.instruments === instruments;
      if (isSame) continue;
      this.#shown.set(id, { game, status, instruments });
      changed(entry);
    }
  }
}
