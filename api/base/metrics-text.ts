/** The text of metrics as Prometheus reads it. Exposition format 0.0.4. */

/** Labels after the family's name, preceded by the part's name if the family has parts. */
export type Sample = readonly [labels: string, value: number];

/** A family: its help, its type, and one line per sample. */
export function family(
  name: string,
  type: string,
  help: string,
  samples: Iterable<Sample>,
): string[] {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  for (const [labelText, value] of samples) lines.push(`${name}${labelText} ${value}`);
  return lines;
}

export function labels(pairs: Record<string, string>): string {
  const inside = Object.entries(pairs).map(([name, value]) => `${name}=${labelValue(value)}`);
  return `{${inside.join(',')}}`;
}

function labelValue(text: string): string {
  const escaped = text.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));
  return `"${escaped}"`;
}
