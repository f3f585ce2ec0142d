// The project's rules for JavaScript and CSS.  Prettier checks the layout, TypeScript names and
// types; these rules cover what neither checks.
const LINE_MAX = 110; // columns
const FILE_LINES_MAX = 600;
const FUNCTION_LINES_MAX = 120; // C has 60; markup takes a line per element

// Text from dumps and symbols is hostile: no way from a string to markup or code.
const unsafe = [
  {
    selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]',
    message: 'Text from dumps and symbols is hostile: render it as text.',
  },
  {
    selector: 'MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML)$/]',
    message: 'Text from dumps and symbols is hostile: render it as text.',
  },
  {
    selector: 'JSXAttribute[name.name=/^(style|on[A-Z].*)$/] > Literal',
    message: 'The content policy forbids inline styles and scripts: give an object or a function.',
  },
];

/** @type {import('eslint').Rule.RuleModule} */
const undocumented = {
  meta: {
    type: 'problem',
    messages: { missing: '{{name}} is exported: its parameters need types (JSDoc).' },
  },
  create: (context) => ({
    ':matches(ExportNamedDeclaration, ExportDefaultDeclaration)'(/** @type {any} */ node) {
      const named = node.declaration;
      const functions =
        named?.type === 'FunctionDeclaration'
          ? [[named.id?.name ?? 'this', named]]
          : (named?.declarations ?? [])
              .filter((/** @type {any} */ one) => one.init?.type === 'ArrowFunctionExpression')
              .map((/** @type {any} */ one) => [one.id.name, one.init]);
      const before = context.sourceCode.getCommentsBefore(node).at(-1)?.value ?? '';
      for (const [name, made] of functions)
        if (made.params.length > 0 && !/@(param|type)\b/.test(before))
          context.report({ node, messageId: 'missing', data: { name } });
    },
  }),
};

/**
 * All rules, for the packages that LOAD finds.
 * @param {NodeRequire} load
 * @returns {import('eslint').Linter.Config[]}
 */
export function rules(load) {
  const { configs } = load('@eslint/js');
  const css = load('@eslint/css').default;
  const hooks = load('eslint-plugin-react-hooks');
  const script = {
    ecmaVersion: 2023,
    sourceType: 'module',
    parserOptions: { ecmaFeatures: { jsx: true } },
  };
  return [
    {
      files: ['**/*.js', '**/*.mjs'],
      languageOptions: script,
      linterOptions: { reportUnusedDisableDirectives: 'error' },
      rules: {
        ...configs.recommended.rules,
        'no-undef': 'off', // the type check knows the names of the browser
        'no-unused-vars': 'off', // and counts what JSX uses
        'no-control-regex': 'off', // hostile text is what tests are made of
        eqeqeq: 'error',
        'max-len': ['error', { code: LINE_MAX }],
        'max-lines': ['error', FILE_LINES_MAX],
        'max-lines-per-function': ['error', { max: FUNCTION_LINES_MAX }],
        'no-eval': 'error',
        'no-implied-eval': 'error',
        'no-new-func': 'error',
        'no-restricted-syntax': ['error', ...unsafe],
        'no-shadow': 'error',
        'no-throw-literal': 'error',
        'no-var': 'error',
        'object-shorthand': 'error',
        'prefer-const': 'error',
        'prefer-template': 'off', // a long text is several strings
      },
    },
    {
      files: ['dashboard/web/src/**/*.js'],
      plugins: { 'react-hooks': hooks, project: { rules: { undocumented } } },
      rules: {
        'no-console': 'error',
        'project/undocumented': 'error',
        'react-hooks/rules-of-hooks': 'error',
      },
    },
    {
      files: ['**/*.css'],
      language: 'css/css',
      plugins: { css },
      rules: {
        'css/no-duplicate-imports': 'error',
        'css/no-empty-blocks': 'error',
        'css/no-invalid-at-rules': 'error',
        'css/no-invalid-properties': 'error',
      },
    },
  ];
}
