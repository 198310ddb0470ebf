/**
 * Small faults planted in a source file: one changed operator, condition, number, word or left-out
 * call at a time. A test suite that proves something falls over each of them.
 */
import { parseSync } from 'oxc-parser';

/** `text.slice(start, end)` is replaced; `line` counts from 1. */
export type Mutant = { start: number; end: number; replacement: string; line: number };

type Node = { type: string; start: number; end: number } & Record<string, unknown>;
type Edit = { at: Pick<Node, 'start' | 'end'>; replacement: string };

const SWAPPED_OPERATORS: Readonly<Record<string, string>> = {
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '&': '|',
  '|': '&',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '+=': '-=',
  '-=': '+=',
  '*=': '/=',
  '??=': '=',
  '++': '--',
  '--': '++',
};

const SWAPPED_FUNCTIONS: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  ceil: 'floor',
  floor: 'ceil',
};

/** Every mutant of a TypeScript file, in the order of its text. */
export function mutantsOf(fileName: string, text: string): Mutant[] {
  const { program, errors } = parseSync(fileName, text);
  if (errors.length > 0) throw new Error(`${fileName}: ${errors[0]!.message}`);
  const mutants: Mutant[] = [];
  walk(program as unknown as Node, null, (node, parent) => {
    for (const { at, replacement } of editsOf(node, parent, text)) {
      const line = text.slice(0, at.start).split('\n').length;
      mutants.push({ start: at.start, end: at.end, replacement, line });
    }
  });
  return mutants.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Types say nothing at run time, and an import decides nothing. */
const SKIPPED = /^(TS(?!NonNull|As|Satisfies)|ImportDeclaration$|ExportNamedDeclaration$.*type)/;

function walk(
  node: Node,
  parent: Node | null,
  visit: (node: Node, parent: Node | null) => void,
): void {
  if (SKIPPED.test(node.type)) return;
  visit(node, parent);
  for (const [key, value] of Object.entries(node)) {
    if (key === 'typeAnnotation' || key === 'returnType' || key === 'typeParameters') continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, node, visit);
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

function editsOf(node: Node, parent: Node | null, text: string): Edit[] {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression':
      return operatorEdits(node, text);
    case 'UpdateExpression':
      return swapped(text, node, node.operator as string);
    case 'UnaryExpression':
      return unaryEdits(node, text);
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'WhileStatement':
      return conditionEdits(node.test as Node, text);
    case 'CallExpression':
      return functionEdits(node, text);
    case 'ExpressionStatement':
      return statementEdits(node);
    case 'BreakStatement':
    case 'ContinueStatement':
      return [{ at: node, replacement: ';' }];
    case 'Literal':
      return literalEdits(node, parent);
    default:
      return [];
  }
}

function operatorEdits(node: Node, text: string): Edit[] {
  const left = node.left as Node;
  const right = node.right as Node;
  return swapped(text, { start: left.end, end: right.start }, node.operator as string);
}

/** The operator is somewhere in the given part of the text, beside blanks and brackets. */
function swapped(text: string, part: Pick<Node, 'start' | 'end'>, operator: string): Edit[] {
  const replacement = SWAPPED_OPERATORS[operator];
  const at = text.indexOf(operator, part.start);
  if (replacement === undefined || at === -1 || at >= part.end) return [];
  return [{ at: { start: at, end: at + operator.length }, replacement }];
}

function unaryEdits(node: Node, text: string): Edit[] {
  if (node.operator !== '!' && node.operator !== '-') return [];
  const argument = node.argument as Node;
  return [{ at: node, replacement: text.slice(argument.start, argument.end) }];
}

/** Comparisons have their own mutants; every other condition is negated. */
function conditionEdits(test: Node, text: string): Edit[] {
  if (test.type === 'BinaryExpression' || test.type === 'UnaryExpression') return [];
  return [{ at: test, replacement: `!(${text.slice(test.start, test.end)})` }];
}

function functionEdits(node: Node, text: string): Edit[] {
  const callee = node.callee as Node;
  if (callee.type !== 'MemberExpression') return [];
  const object = callee.object as Node;
  const property = callee.property as Node;
  const replacement = SWAPPED_FUNCTIONS[text.slice(property.start, property.end)];
  const isMath = text.slice(object.start, object.end) === 'Math';
  return isMath && replacement !== undefined ? [{ at: property, replacement }] : [];
}

/** A step that is left out. An invariant guards against our own faults, so none reaches it. */
function statementEdits(node: Node): Edit[] {
  const expression = node.expression as Node;
  if (!['CallExpression', 'AssignmentExpression', 'UpdateExpression'].includes(expression.type)) {
    return [];
  }
  const callee = expression.callee as Node | undefined;
  if (callee?.name === 'invariant') return [];
  return [{ at: node, replacement: ';' }];
}

function literalEdits(node: Node, parent: Node | null): Edit[] {
  const { value } = node;
  if (typeof value === 'boolean') return [{ at: node, replacement: String(!value) }];
  if (typeof value === 'number') return [{ at: node, replacement: String(value + 1) }];
  if (typeof value !== 'string' || !decides(parent, value)) return [];
  return [{ at: node, replacement: "'mutant'" }];
}

/** A word of the code, such as a status; a sentence for a person decides nothing. */
function decides(parent: Node | null, value: string): boolean {
  return parent?.type !== 'ExpressionStatement' && /^[a-z][a-z_]*$/.test(value);
}
