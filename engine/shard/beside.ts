/**
 * Modules that threads and processes start from. A clone runs its `.ts`, the packed product the `.js`
 * made of it; tsc turns the endings of imports from one into the other, and those of URLs not.
 */

/** The module `name`, such as `./worker`, with the ending of the one that runs at `url`. */
export function moduleBeside(url: string, name: string): URL {
  return new URL(name + url.slice(url.lastIndexOf('.')), url);
}
