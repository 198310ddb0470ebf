/** Static files of a page, sent in the shortest encoding that the caller accepts. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type HeaderLines, headerLines } from './header-lines.ts';

/** A content encoding and the body in it. */
export class CodedBody {
  readonly headers: HeaderLines;
  readonly bytes: Uint8Array;

  /**
   * @param coding null: not encoded
   * @param type null: its route states the content type
   */
  constructor(coding: string | null, bytes: Uint8Array, type: string | null = null) {
    this.headers = headerLines([
      ...(type === null ? [] : ['Content-Type', type]),
      ...(coding === null ? [] : ['Content-Encoding', coding]),
    ]);
    this.bytes = bytes;
  }
}

/** Nearly as short as the best quality, which takes seconds for a megabyte. */
const BROTLI_QUALITY = 9;
type Coding = { name: string; encode(bytes: Uint8Array): Promise<Buffer> };
/** The shortest first. */
const CODINGS: readonly Coding[] = [
  {
    name: 'br',
    encode: (bytes) =>
      promisify(brotliCompress)(bytes, {
        params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
      }),
  },
  { name: 'gzip', encode: (bytes) => promisify(gzip)(bytes, { level: 9 }) },
];
const HASH_CHARACTERS = 12;
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/** A file whose name changes with its content, so that clients may cache it forever. */
export class Asset {
  readonly name: string;
  readonly #type: string;
  readonly #plain: CodedBody;
  /** Each is built on another thread at the first request for it, and kept. */
  readonly #coded = new Map<string, CodedBody | Promise<CodedBody>>();

  /** @param name that changes with the content: `page.3f0a….css` */
  constructor(name: string, bytes: Uint8Array) {
    const type = TYPES[path.extname(name)];
    if (type === undefined) throw new Error(`${name} has no known content type`);
    this.name = name;
    this.#type = type;
    this.#plain = new CodedBody(null, bytes, type);
  }

  /** The content type of a file by its own name: `page.css`. */
  static of(name: string, bytes: Buffer): Asset {
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_CHARACTERS);
    const { name: stem, ext } = path.parse(name);
    return new Asset(`${stem}.${hash}${ext}`, bytes);
  }

  /** @param accepted the Accept-Encoding header of the caller; empty if none was sent */
  bodyFor(accepted: string): CodedBody | Promise<CodedBody> {
    const coding = CODINGS.find(({ name }) => isAccepted(accepted, name));
    if (coding === undefined) return this.#plain;
    const known = this.#coded.get(coding.name);
    if (known !== undefined) return known;
    const made = this.#make(coding);
    this.#coded.set(coding.name, made);
    return made;
  }

  async #make({ name, encode }: Coding): Promise<CodedBody> {
    const body = new CodedBody(name, await encode(this.#plain.bytes), this.#type);
    this.#coded.set(name, body);
    return body;
  }
}

/** RFC 9110, section 12.5.3; an encoding that the header does not name is not sent. */
function isAccepted(accepted: string, coding: string): boolean {
  for (const item of accepted.toLowerCase().split(',')) {
    const [name, ...parameters] = item.split(';').map((part) => part.trim());
    if (name === coding) return !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  }
  return false;
}
