/**
 * Modules that threads and processes start from. A clone runs the `.ts`, the packed product the
 * `.js`. tsc rewrites the endings of imports but not the endings of URLs.
 */

/** The module `name`, such as `./worker`, with the ending of the module at `url`. */
export function workerUrl(url: string, name: string): URL {
  return new URL(name + url.slice(url.lastIndexOf('.')), url);
}
