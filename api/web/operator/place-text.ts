/** Addresses of the operator's views, as text. */

export const PLACES = {
  feeds: 'Feeds',
  shards: 'Shards',
  problems: 'Problems',
  switches: 'Switches',
  users: 'Users',
  corrections: 'Results and cash',
} as const;
export type PlaceName = keyof typeof PLACES;

export type Place = {
  /** Null: there is no such view. */
  name: PlaceName | null;
  /** The id of `#/users/ID`; empty without one. */
  param: string;
};

/** @param hash `#/users/ID`; an empty one means the feeds */
export function placeOf(hash: string): Place {
  const [name = '', param = ''] = hash.replace(/^#?\/?/, '').split('/');
  if (name === '') return { name: 'feeds', param: '' };
  const known = (Object.keys(PLACES) as PlaceName[]).find((one) => one === name);
  return { name: known ?? null, param };
}

export function placeHref(name: PlaceName, param = ''): string {
  return param === '' ? `#/${name}` : `#/${name}/${param}`;
}
