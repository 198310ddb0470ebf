/** Answers that fit the context of a language model. Rule A177 (api/RULES.md). */

/** About 6,000 tokens. */
const CHARACTERS_MAX = 24_000;

/**
 * A JSON answer of at most 24,000 characters. Its longest lists keep their first entries, and
 * `shortened` says how many of how many are there.
 *
 * @param body JSON text of an object
 */
export function fitted(body: string): string {
  if (body.length <= CHARACTERS_MAX) return body;
  const answer = JSON.parse(body) as Record<string, unknown>;
  const shortened: Record<string, { shown: number; of: number }> = {};
  let text = body;
  while (text.length > CHARACTERS_MAX) {
    const longest = longestList(answer);
    if (longest === null) break;
    const { at, list } = longest;
    const shown = Math.floor(list.length / 2);
    shortened[at] = { shown, of: shortened[at]?.of ?? list.length };
    put(answer, at, list.slice(0, shown));
    text = JSON.stringify({ ...answer, shortened });
  }
  return text;
}

type Found = { at: string; list: unknown[]; characters: number };

/** The list that takes most characters, in the answer or one level down; null: none has an entry. */
function longestList(answer: Record<string, unknown>): Found | null {
  let longest: Found | null = null;
  const look = (at: string, value: unknown) => {
    if (!Array.isArray(value) || value.length === 0) return;
    const characters = JSON.stringify(value).length;
    if (characters > (longest?.characters ?? 0)) longest = { at, list: value, characters };
  };
  for (const [name, value] of Object.entries(answer)) {
    look(name, value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    for (const [inner, part] of Object.entries(value)) look(`${name}.${inner}`, part);
  }
  return longest;
}

function put(answer: Record<string, unknown>, at: string, list: unknown[]): void {
  const [name, inner] = at.split('.') as [string, string?];
  if (inner === undefined) answer[name] = list;
  else (answer[name] as Record<string, unknown>)[inner] = list;
}
