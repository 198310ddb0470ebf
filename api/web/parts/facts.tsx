/** A list of facts about one thing: names and values. */
import type { ComponentChildren } from 'preact';

export type Fact = {
  name: string;
  value: ComponentChildren;
  /** The meaning of the value, or why there is none. */
  note?: ComponentChildren;
};

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="fact-list">
      {facts.map(({ name, value, note }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {note !== undefined && <dd class="hint">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
