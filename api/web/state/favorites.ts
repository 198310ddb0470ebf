/** Favorite games, which this browser keeps. Rule U45 (api/RULES.md). */
import { signal } from '@preact/signals';
import { favoritesOf, withToggled } from './favorite-text.ts';

const STORED = 'paperbook.favorites';

export const favorites = signal(favoritesOf(localStorage.getItem(STORED)));
addEventListener('storage', ({ key, newValue }) => {
  if (key === STORED) favorites.value = favoritesOf(newValue);
});

export function toggleFavorite(gameId: string): void {
  favorites.value = withToggled(favorites.value, gameId);
  localStorage.setItem(STORED, JSON.stringify([...favorites.value]));
}
