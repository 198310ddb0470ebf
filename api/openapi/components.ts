/** Schemas as the description shows them: one with a title is a component that others refer to. */
import { isDeepStrictEqual } from 'node:util';
import { saidInPlace } from '../base/common-schemas.ts';

/** A schema as plain JSON. */
export type SchemaJson = { [keyword: string]: unknown };

export class Components {
  readonly #schemas = new Map<string, SchemaJson>();

  /** The JSON to write in place of the schema. Throws if one title names two schemas. */
  place(schema: object): SchemaJson {
    const said = saidInPlace(schema);
    const { title, ...written } = this.#inside(schema as SchemaJson);
    if (title === undefined) return said === undefined ? written : withSaid(written, said);
    const name = String(title);
    const known = this.#schemas.get(name) ?? written;
    if (!isDeepStrictEqual(written, known)) {
      throw new Error(`two different schemas have the title ${name}`);
    }
    this.#schemas.set(name, written);
    const $ref = `#/components/schemas/${name}`;
    return said === undefined ? { $ref } : { $ref, description: said };
  }

  /** All components so far, by name. */
  all(): Record<string, SchemaJson> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The JSON Schema keywords, without the symbols that TypeBox adds. */
  #inside(schema: SchemaJson): SchemaJson {
    const written: SchemaJson = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'properties') {
        const properties = Object.entries(value as Record<string, object>);
        written[keyword] = Object.fromEntries(
          properties.map(([name, property]) => [name, this.place(property)]),
        );
      } else if (keyword === 'items') {
        written[keyword] = this.place(value as object);
      } else if (keyword === 'anyOf' || keyword === 'allOf' || keyword === 'oneOf') {
        written[keyword] = (value as object[]).map((one) => this.place(one));
      } else {
        written[keyword] = value;
      }
    }
    return written;
  }
}

function withSaid(written: SchemaJson, said: string): SchemaJson {
  const { description } = written;
  return { ...written, description: description === undefined ? said : `${said} (${description})` };
}
