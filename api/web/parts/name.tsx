/**
 * Names given by people and catalogs. They may be long, even as one word. A name is cut if there is
 * no room, and its title has all of it. Rule A122 (api/RULES.md).
 */

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
