/**
 * Small mistakes that can be made in any line: the operators of mutation. Each gives places of a
 * source, and what stands there instead; comments, types, imports and texts for people are left
 * alone. So are numbers from ten on: one more of them is another tuning, not a mistake.
 */
import { ts } from '@ts-morph/common';

export interface Mutation {
  operator: string;
  start: number;
  end: number;
  instead: string;
}

type Operator = (node: ts.Node, source: ts.SourceFile) => readonly Mutation[];

const { SyntaxKind } = ts;

function swap(
  operator: string,
  node: ts.Node,
  source: ts.SourceFile,
  instead: string,
): readonly Mutation[] {
  return [{ operator, start: node.getStart(source), end: node.getEnd(), instead }];
}

const OTHER_SIGNS: Partial<Record<ts.SyntaxKind, [operator: string, instead: string]>> = {
  [SyntaxKind.LessThanToken]: ['boundary', '<='],
  [SyntaxKind.LessThanEqualsToken]: ['boundary', '<'],
  [SyntaxKind.GreaterThanToken]: ['boundary', '>='],
  [SyntaxKind.GreaterThanEqualsToken]: ['boundary', '>'],
  [SyntaxKind.EqualsEqualsEqualsToken]: ['equality', '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken]: ['equality', '==='],
  [SyntaxKind.AmpersandAmpersandToken]: ['logic', '||'],
  [SyntaxKind.BarBarToken]: ['logic', '&&'],
  [SyntaxKind.PlusToken]: ['arithmetic', '-'],
  [SyntaxKind.MinusToken]: ['arithmetic', '+'],
  [SyntaxKind.AsteriskToken]: ['arithmetic', '/'],
};

const OTHER_METHODS = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['findLast', 'find'],
  ['find', 'findLast'],
]);

const signs: Operator = (node, source) => {
  if (!ts.isBinaryExpression(node)) return [];
  const other = OTHER_SIGNS[node.operatorToken.kind];
  return other === undefined ? [] : swap(other[0], node.operatorToken, source, other[1]);
};

const conditions: Operator = (node, source) => {
  const isChoice = ts.isIfStatement(node) || ts.isConditionalExpression(node);
  if (!isChoice) return [];
  const condition = ts.isIfStatement(node) ? node.expression : node.condition;
  return ['true', 'false'].flatMap((value) => swap('condition', condition, source, value));
};

const negations: Operator = (node, source) =>
  ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken
    ? swap('negation', node, source, node.operand.getText(source))
    : [];

/** A call or an assignment that is left out. */
const statements: Operator = (node, source) => {
  if (!ts.isExpressionStatement(node)) return [];
  return swap('statement', node, source, ';');
};

const TUNINGS_FROM = 10;

const numbers: Operator = (node, source) => {
  const number = ts.isNumericLiteral(node) ? Number(node.text) : TUNINGS_FROM;
  return number < TUNINGS_FROM ? swap('number', node, source, String(number + 1)) : [];
};

const methods: Operator = (node, source) => {
  if (!ts.isPropertyAccessExpression(node) || !ts.isCallExpression(node.parent)) return [];
  const other = OTHER_METHODS.get(node.name.text);
  return other === undefined ? [] : swap('method', node.name, source, other);
};

/** A filter that lets all through. */
const filters: Operator = (node, source) => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  if (node.expression.name.text !== 'filter') return [];
  return swap('filter', node, source, `[...${node.expression.expression.getText(source)}]`);
};

/** A property that stays as it was: `{ ...state, from }` without `from`. */
const properties: Operator = (node) => {
  if (!ts.isObjectLiteralExpression(node)) return [];
  const [first, ...others] = node.properties;
  if (first === undefined || !ts.isSpreadAssignment(first)) return [];
  // with the comma before it
  return others.map((property, i) => ({
    operator: 'property',
    start: node.properties[i]!.getEnd(),
    end: property.getEnd(),
    instead: '',
  }));
};

const SQL_SIGNS: readonly [RegExp, string][] = [
  [/ < /, ' <= '],
  [/ <= /, ' < '],
  [/ > /, ' >= '],
  [/ >= /, ' > '],
  [/ AND (?!\()[^\n`$]+?(?=\n|`| AND | ORDER | LIMIT )/, ''],
  [/ DESC\b/, ' '],
  [/\bmin\(/, 'max('],
  [/\bmax\(/, 'min('],
  [/\bcoalesce\((\w|\.)+, /, '('],
];

/** In statements of SQL, one place of each kind. */
const sql: Operator = (node, source) => {
  const isText =
    ts.isNoSubstitutionTemplateLiteral(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddle(node) ||
    ts.isTemplateTail(node) ||
    ts.isStringLiteral(node);
  const text = node.getText(source);
  const isSql = /\b(?:SELECT|WHERE|DELETE|UPDATE|INSERT|FROM|AND)\b/.test(text);
  if (!isText || !isSql) return [];
  return SQL_SIGNS.flatMap(([pattern, instead]) => {
    const found = pattern.exec(text);
    if (found === null) return [];
    const start = node.getStart(source) + found.index;
    return [{ operator: 'SQL', start, end: start + found[0].length, instead }];
  });
};

const OPERATORS: readonly Operator[] = [
  signs,
  conditions,
  negations,
  statements,
  numbers,
  methods,
  filters,
  properties,
  sql,
];

/** All mutations of a source, in the order of their places. */
export function mutationsOf(path: string, text: string): Mutation[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Mutation[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isInterfaceDeclaration(node))
      return;
    // what people read, and what fails anyway
    if (ts.isThrowStatement(node) || isLogging(node)) return;
    for (const operator of OPERATORS) found.push(...operator(node, source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.sort((a, b) => a.start - b.start);
}

function isLogging(node: ts.Node): boolean {
  return (
    ts.isExpressionStatement(node) &&
    ts.isCallExpression(node.expression) &&
    /^(?:writeLog|logFailure|(?:\w+\.)*#?log)$/.test(node.expression.expression.getText())
  );
}
