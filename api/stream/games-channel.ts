/**
 * The channel `games`: each game that a venue or the catalog has changed. Rules J14, J34
 * (api/RULES.md).
 */
import { type CatalogView, firstGames, type GameEntry, gameText } from '../catalog/catalog-view.ts';
import { TopicChannel, type TopicChannelOptions } from './channel.ts';

const LOOK_EVERY_MS = 100;
/**
 * It continues without a connection for so many looks, because its beginning asks for all games.
 */
const IDLE_LOOKS = 100;

/** The parts of a game that can change: objects and texts that are replaced, never changed. */
type Shown = Pick<GameEntry, 'game' | 'status'> & { instruments: number };

export class GamesChannel extends TopicChannel {
  readonly #catalog: CatalogView;
  /** By their ids; empty while nobody has subscribed. */
  readonly #shown = new Map<string, Shown>();
  #timer: NodeJS.Timeout | null = null;
  #idleLooks = 0;
  /** Of the snapshots until the next look. */
  #first: string | null = null;

  constructor(catalog: CatalogView, options: TopicChannelOptions) {
    super(options);
    this.#catalog = catalog;
    this.know(() => {
      this.#first ??= firstGames(catalog, options.nowMs());
      return this.#first;
    });
  }

  protected override firstTook(): void {
    this.#idleLooks = 0;
    if (this.#timer !== null) return;
    this.#first = null;
    this.#note(() => {});
    // Nobody saw the changes since the last connection left.
    this.renumber();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  protected override lastReleased(): void {
    this.#idleLooks = 1;
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#shown.clear();
  }

  #look(): void {
    if (this.#idleLooks > 0 && this.#idleLooks++ > IDLE_LOOKS) return this.close();
    this.#first = null;
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
