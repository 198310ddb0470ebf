/**
 * What accounts have chosen of realism, by the id of the account: a user's, or an organization's,
 * wherever that lives. Rules A140, D107 (api/RULES.md, engine/RULES.md).
 */
import type { FillModelName, Uuid } from '../../engine/base/units.ts';
import { isOtherModel, isPreset, type Realism } from '../../engine/rules/realism.ts';
import type { ControlTable } from './control-table.ts';
import type { ControlWriter } from './control-writer.ts';

export class RealismTable {
  /** Of accounts with another choice than the preset `simple`. */
  readonly #chosen = new Map<Uuid, Realism>();
  readonly #table: ControlTable<Realism>;
  readonly #writer: ControlWriter;
  readonly #onChanged: (account: Uuid) => void;

  constructor(
    table: ControlTable<Realism>,
    writer: ControlWriter,
    onChanged: (account: Uuid) => void,
  ) {
    this.#table = table;
    this.#writer = writer;
    this.#onChanged = onChanged;
    for (const { key, value } of table.entries()) this.#chosen.set(key, value);
  }

  /** Null: the preset `simple`. */
  of(account: Uuid): Realism | null {
    return this.#chosen.get(account) ?? null;
  }

  /** Whether an account has chosen another fill model than the server's. Rule T158. */
  hasOther(server: FillModelName): boolean {
    for (const { model } of this.#chosen.values()) if (isOtherModel(model, server)) return true;
    return false;
  }

  /** A row is as the disk has it: another node has changed it, or a change came to nothing. */
  forget(account: Uuid): void {
    const row = this.#table.get(account);
    if (row === undefined) this.#chosen.delete(account);
    else this.#chosen.set(account, row);
    this.#onChanged(account);
  }

  /** Resolves once it is on disk. It counts for the next order. */
  async put(account: Uuid, realism: Realism): Promise<void> {
    const isSimple = isPreset(realism, 'simple');
    await this.#writer.write([
      {
        ...{ table: this.#table, key: account, value: isSimple ? undefined : realism },
        keep: () => {
          if (isSimple) this.#chosen.delete(account);
          else this.#chosen.set(account, realism);
          this.#onChanged(account);
        },
      },
    ]);
  }
}
