/** Python's types of the schemas of an OpenAPI description: a TypedDict for every object. */

export type Schema = {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
  items?: Schema;
  prefixItems?: readonly Schema[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  format?: string;
  maximum?: number;
  additionalProperties?: boolean | Schema;
};

const COLUMNS = 100;
const IDENTIFIER = /^[A-Za-z_]\w*$/;
const KEYWORDS = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except ' +
    'finally for from global if import in is lambda nonlocal not or pass raise return try while ' +
    'with yield'
  ).split(' '),
);
const PLAIN_TYPES: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
  object: 'dict[str, Any]',
  array: 'list[Any]',
};

/** Definitions of the schemas that were asked for, and of all that these name. */
export class PythonTypes {
  readonly #schemas: Record<string, Schema>;
  readonly #definitions = new Map<string, string>();

  constructor(schemas: Record<string, Schema>) {
    this.#schemas = schemas;
  }

  /** Names of the types, as they sort. */
  names(): string[] {
    return [...this.#definitions.keys()].sort();
  }

  /** The code of the definitions, by name. */
  definitions(): string {
    return this.names()
      .map((name) => this.#definitions.get(name)!)
      .join('\n\n\n');
  }

  /** An annotation for a schema; `name` is the name that a separate type would get. */
  annotation(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return this.#named(schema.$ref);
    if (schema.const !== undefined) return literalOf([schema.const]);
    if (schema.enum !== undefined) return literalOf(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return unionOf(choices.map((each) => this.annotation(each, name)));
    if (schema.allOf?.length === 1) return this.annotation(schema.allOf[0]!, name);
    if (Array.isArray(schema.type)) {
      return unionOf(schema.type.map((type) => this.annotation({ ...schema, type }, name)));
    }
    if (schema.type === 'array') return this.#listOf(schema, name);
    if (schema.type === 'object') return this.#objectOf(schema, name);
    const plain = schema.type === undefined ? 'Any' : PLAIN_TYPES[schema.type as string];
    if (plain === undefined) throw new Error(`${name}: no Python type for ${schema.type}`);
    return plain;
  }

  #named(ref: string): string {
    const name = ref.split('/').at(-1)!;
    const schema = this.#schemas[name];
    if (schema === undefined) throw new Error(`${ref} is no schema of the description`);
    if (this.#definitions.has(name)) return name;
    // Its place is taken first, since a schema may name itself.
    this.#definitions.set(name, '');
    const annotation = this.annotation(schema, name);
    if (annotation !== name) {
      // As a text, so that the order of the definitions does not matter.
      const said = commentOf(schema.description, '');
      const value = annotation.startsWith('Literal[') ? annotation : JSON.stringify(annotation);
      this.#definitions.set(name, `${said}${name}: TypeAlias = ${value}`);
    }
    return name;
  }

  #listOf({ items, prefixItems }: Schema, name: string): string {
    const each = prefixItems ?? (items === undefined ? [] : [items]);
    if (each.length === 0) return 'list[Any]';
    return `list[${unionOf(each.map((one) => this.annotation(one, `${name}Item`)))}]`;
  }

  #objectOf(schema: Schema, name: string): string {
    const { properties = {}, additionalProperties: others } = schema;
    if (Object.keys(properties).length === 0) {
      if (typeof others !== 'object') return PLAIN_TYPES.object!;
      return `dict[str, ${this.annotation(others, `${name}Value`)}]`;
    }
    this.#definitions.set(name, '');
    this.#definitions.set(name, this.#classOf(schema, properties, name));
    return name;
  }

  #classOf(schema: Schema, properties: Record<string, Schema>, name: string): string {
    const fields = Object.entries(properties).map(([field, property]) => {
      const nested = name + capitalized(field);
      const type = this.annotation(property, nested);
      const isThere = schema.required?.includes(field) === true;
      const shown = (isThere ? type : `NotRequired[${type}]`).replaceAll('\n', '\n    ');
      return { field, type: shown, said: property.description };
    });
    if (fields.every(({ field }) => isIdentifier(field))) {
      const docstring = schema.description === undefined ? '' : docstringOf(schema.description);
      const lines = fields.map(({ field, type, said }) => {
        return `${commentOf(said, '    ')}    ${field}: ${type}\n`;
      });
      return `class ${name}(TypedDict):\n${docstring}${lines.join('')}`.trimEnd();
    }
    const entries = fields.map(({ field, type, said }) => {
      const text = JSON.stringify(type.replaceAll(/\s*\n\s*/g, ' '));
      return `${commentOf(said, '        ')}        ${JSON.stringify(field)}: ${text},\n`;
    });
    const said = commentOf(schema.description, '');
    return `${said}${name} = TypedDict(\n    "${name}",\n    {\n${entries.join('')}    },\n)`;
  }
}

export function isIdentifier(name: string): boolean {
  return IDENTIFIER.test(name) && !KEYWORDS.has(name);
}

/** As a part of a type's name. */
export function capitalized(name: string): string {
  return name[0]!.toUpperCase() + name.slice(1);
}

/** `GET /games?from=` has a parameter that is a word of Python: `from_`. */
export function argumentName(name: string): string {
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return KEYWORDS.has(snake) ? `${snake}_` : snake;
}

/** A `Literal` has no fractions. */
function literalOf(values: readonly unknown[]): string {
  const isFraction = (value: unknown) => typeof value === 'number' && !Number.isInteger(value);
  if (values.some(isFraction)) return PLAIN_TYPES.number!;
  const texts = values.map((value) => {
    return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
  });
  return laidOut('Literal[', texts, ']', { indent: '', columns: COLUMNS / 2 });
}

/** Parts between brackets, on one line if they fit, else a line each. */
export function laidOut(
  open: string,
  parts: readonly string[],
  close: string,
  { indent, columns = COLUMNS }: { indent: string; columns?: number },
): string {
  const line = open + parts.join(', ') + close;
  if (indent.length + line.length <= columns && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${indent}    ${part},\n`).join('')}${indent}${close}`;
}

function unionOf(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

/** A docstring of a class or method. */
export function docstringOf(text: string, indent = '    '): string {
  const lines = filled(text.replaceAll('\\', '\\\\').replaceAll('"""', "'''"), indent.length + 6);
  if (lines.length === 1) return `${indent}"""${lines[0]}"""\n`;
  return `${indent}"""${lines.map((line, at) => (at === 0 ? line : indent + line)).join('\n')}\n${indent}"""\n`;
}

function commentOf(text: string | undefined, indent: string): string {
  if (text === undefined) return '';
  return filled(text, indent.length + 2)
    .map((line) => `${indent}# ${line}\n`)
    .join('');
}

/** Lines of words. */
function filled(text: string, taken: number): string[] {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1)!;
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length + taken <= COLUMNS)
      lines[lines.length - 1] += ` ${word}`;
    else lines.push(word);
  }
  return lines;
}
