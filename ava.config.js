import { beginProduct } from './test/process/product.ts';

/**
 * `ava` plays test/rooms, many test files in a process; with PAPERBOOK_LONG_TESTS also those that take
 * long. `ava FILE` plays that file by itself.
 */
const isOfFiles = process.argv.slice(2).some((argument) => argument.endsWith('.test.ts'));
const isLong = process.env.PAPERBOOK_LONG_TESTS !== undefined;
/**
 * Threads of many files start from the packed product, which is made while the first rooms load.
 * `ava FILE` and coverage take the sources.
 */
const fromProduct = !isOfFiles && process.env.NODE_V8_COVERAGE === undefined;
/** They take longest, or wait much, so they begin first; the shortest ones fill the end. */
const LONGEST = [
  ...['web', 'process-commands', 'whole', 'engine-and-feeds', 'api-parts', 'api-operations'],
  ...['api-threads', 'product-and-identity', 'check'],
];
const rankOf = (file) => {
  const rank = LONGEST.findIndex((room) => file.endsWith(`/rooms/${room}.ts`));
  return rank === -1 ? LONGEST.length : rank;
};
const rooms = ['test/rooms/*.ts', ...(isLong ? [] : ['!test/rooms/long.ts'])];

export default {
  extensions: ['ts'],
  sortTestFiles: (a, b) => rankOf(a) - rankOf(b) || a.localeCompare(b),
  files: isOfFiles ? ['test/**/*.test.ts'] : rooms,
  nodeArguments: ['--import=./test/preload.js'],
  // A check of each change takes a tenth of the seeds, as mutate.ts does (test/README.md).
  environmentVariables: {
    SEEDS_PERCENT: process.env.SEEDS_PERCENT ?? (isLong ? '100' : '10'),
    // Large buffers in pages of 2 MiB: a third fewer page faults, and 8% less CPU of a room.
    GLIBC_TUNABLES: process.env.GLIBC_TUNABLES ?? 'glibc.malloc.hugetlb=1',
    ...(fromProduct ? { PRODUCT_OF_TESTS: beginProduct() } : {}),
  },
  // Many tests wait, for a disk, a page or a moment.
  concurrency: 4,
  timeout: isLong ? '10m' : '3m',
  workerThreads: false,
};
