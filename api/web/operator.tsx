/** The entry of the operator's page, which the admin listener serves. */
import { render } from 'preact';
import { OperatorApp } from './operator/app.tsx';
import { startOperator } from './operator/state.ts';

startOperator();
render(<OperatorApp />, document.getElementById('page')!);
