/** Favorites as a browser keeps them: a JSON array of ids. Rule U45 (api/RULES.md). */

/** The oldest are forgotten: their games are long over. */
const KEPT_MAX = 200;

/** A text of another form is no favorites. */
export function favoritesOf(text: string | null): ReadonlySet<string> {
  try {
    const found: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(found)) return new Set();
    return new Set(found.filter((one) => typeof one === 'string').slice(-KEPT_MAX));
  } catch {
    return new Set();
  }
}

export function withToggled(favorites: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const others = [...favorites].filter((one) => one !== id);
  return new Set(favorites.has(id) ? others : [...others, id].slice(-KEPT_MAX));
}
