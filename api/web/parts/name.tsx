/**
 * Names given by people and catalogs. They may be long, even as one word. A name is cut if there is
 * no room, and its title has all of it. Rule A122 (api/RULES.md).
 */
import { hrefOf } from '../state/route-text.ts';

/** In one line: of a person, an organization, a key. */
export function Name({ text }: { text: string }) {
  return (
    <span class="name" title={text}>
      {text}
    </span>
  );
}

/** In up to three lines: of a market. */
export function Label({ text }: { text: string }) {
  return (
    <span class="name is-label" title={text}>
      {text}
    </span>
  );
}

/** The label of an instrument, with a link to its page unless it has left the catalog. */
export function InstrumentLabel({ id, text }: { id: string | null; text: string }) {
  const label = <Label text={text} />;
  return id === null ? label : <a href={hrefOf('market', id)}>{label}</a>;
}
