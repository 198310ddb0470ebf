/** Names and what they are: a list of facts about one thing. */
import type { ComponentChildren } from 'preact';

export type Fact = {
  name: string;
  value: ComponentChildren;
  /** What it means, or why there is none. */
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
