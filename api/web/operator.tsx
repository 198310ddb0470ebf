/** The entry of the operator's page, which the admin listener serves. */
import { render } from 'preact';

function OperatorApp() {
  return (
    <main id="main">
      <h1>Operator</h1>
    </main>
  );
}

render(<OperatorApp />, document.getElementById('page')!);
