/**
 * A run on disk is a sequence of pieces. A piece is a header of 16 bytes followed by at most
 * `PAYLOAD_BYTES`, so that it fills four pages of LMDB exactly. The header is four little-endian
 * words: the CRC-32 of everything after it, the run, the piece, and the bytes of the payload. So a
 * misplaced piece is detected like a changed byte. Rule D40 (engine/RULES.md).
 */
import { crc32 } from 'node:zlib';
import { invariant } from '../base/invariant.ts';
import { ENTRY_BYTES } from './entry.ts';
import type { RunStore } from './run-store.ts';

/** A piece of a run is damaged; the message names both. */
export class RunDamage extends Error {
  readonly run: number;
  readonly piece: number;

  constructor(run: number, piece: number, fault: string) {
    super(`index run ${run}, ${nameOfPiece(piece)}: ${fault}`);
    this.name = 'RunDamage';
    this.run = run;
    this.piece = piece;
  }
}

const HEADER_WORDS = 4;
const HEADER_BYTES = HEADER_WORDS * Uint32Array.BYTES_PER_ELEMENT;
/** An LMDB page and the header of the first page of a large value. */
const PAGE_BYTES = 4096;
const PAGE_HEADER_BYTES = 16;
export const PIECE_BYTES = 4 * PAGE_BYTES - PAGE_HEADER_BYTES;
export const PAYLOAD_BYTES = PIECE_BYTES - HEADER_BYTES;
export const CHUNK_ENTRIES = PAYLOAD_BYTES / ENTRY_BYTES;

/** Kinds of pieces, by the number of the first of each. Chunks contain the entries. */
export const FIRST_PIECE = { chunk: 0, fences: 2 ** 28, filter: 2 ** 29 } as const;
export type PieceKind = keyof typeof FIRST_PIECE;
export const PIECES_MAX = 2 ** 28;

function nameOfPiece(piece: number): string {
  if (piece >= FIRST_PIECE.filter) return `filter ${piece - FIRST_PIECE.filter}`;
  return piece >= FIRST_PIECE.fences ? `fences ${piece - FIRST_PIECE.fences}` : `chunk ${piece}`;
}

/** How many pieces so many words need. */
export function piecesOf(words: number): number {
  return Math.ceil((words * Uint32Array.BYTES_PER_ELEMENT) / PAYLOAD_BYTES);
}

/** Writes `payload` as a piece of a run. */
export function putPiece(store: RunStore, run: number, piece: number, payload: Uint32Array): void {
  invariant(payload.byteLength <= PAYLOAD_BYTES, 'a piece is larger than it may be');
  invariant(run >>> 0 === run && piece >>> 0 === piece, 'a run or a piece is no word');
  const words = new Uint32Array(HEADER_WORDS + payload.length);
  words[1] = run;
  words[2] = piece;
  words[3] = payload.byteLength;
  words.set(payload, HEADER_WORDS);
  const bytes = new Uint8Array(words.buffer);
  words[0] = crc32(bytes.subarray(4));
  store.put(run, piece, bytes);
}

/** Writes `words` as pieces of a kind, starting at number `from`, at most `count` of them. */
export function putPieces(
  store: RunStore,
  run: number,
  {
    kind,
    words,
    from,
    count,
  }: { kind: PieceKind; words: Uint32Array; from: number; count: number },
): void {
  const each = PAYLOAD_BYTES / Uint32Array.BYTES_PER_ELEMENT;
  const end = Math.min(from + count, piecesOf(words.length));
  for (let piece = from; piece < end; piece++) {
    const payload = words.subarray(piece * each, (piece + 1) * each);
    putPiece(store, run, FIRST_PIECE[kind] + piece, payload);
  }
}

/** The payload of a piece. Throws `RunDamage` if the piece is missing or damaged. */
export function readPiece(store: RunStore, run: number, piece: number): Uint32Array {
  const bytes = store.get(run, piece);
  if (bytes === undefined) throw new RunDamage(run, piece, 'is missing');
  if (bytes.length < HEADER_BYTES || bytes.length > PIECE_BYTES || bytes.length % 4 !== 0) {
    throw new RunDamage(run, piece, `has ${bytes.length} bytes`);
  }
  const words = new Uint32Array(bytes.length / 4);
  new Uint8Array(words.buffer).set(bytes);
  if (words[0] !== crc32(bytes.subarray(4))) throw new RunDamage(run, piece, 'wrong checksum');
  const isIts = words[1] === run && words[2] === piece;
  if (!isIts || words[3] !== bytes.length - HEADER_BYTES) {
    throw new RunDamage(run, piece, 'another piece is in its place');
  }
  return words.subarray(HEADER_WORDS);
}

/** All words of the pieces of a kind. Throws `RunDamage`. */
export function readPieces(
  store: RunStore,
  run: number,
  kind: PieceKind,
  length: number,
): Uint32Array {
  const words = new Uint32Array(length);
  for (let piece = 0, at = 0; at < length; piece++) {
    const payload = readPiece(store, run, FIRST_PIECE[kind] + piece);
    if (payload.length === 0 || at + payload.length > length) {
      throw new RunDamage(run, FIRST_PIECE[kind] + piece, 'is longer than the head says');
    }
    words.set(payload, at);
    at += payload.length;
  }
  return words;
}
