// Bundles the pages and writes them as one C file.
//
//   node build.mjs --source DIR --pages FILE --modules DIR --out DIR
//
// Writes OUT/web_assets.c: every asset with its hashed path, plain, gzip and brotli, and the frame of
// the offline page.  The same input gives the same bytes: no times, no absolute paths.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { virtual } from './virtual.mjs';

const BUDGET_GZIP_BYTES = 120 * 1024;

/** @type {(name: string, fallback: string) => string} */
function option(name, fallback) {
  const at = process.argv.indexOf(name);
  return at > 0 ? process.argv[at + 1] : fallback;
}

const source = resolve(option('--source', '.'));
const modules = resolve(option('--modules', join(source, 'node_modules')));
const out = resolve(option('--out', join(source, 'out')));
const version = option('--version', '0');
const esbuild = createRequire(join(modules, 'x.js'))('esbuild');

const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
const licences = Object.keys(manifest.dependencies)
  .sort()
  .map((name) => {
    const folder = join(modules, name);
    const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return {
      name,
      version: about.version,
      licence: about.license,
      text: readFileSync(join(folder, 'LICENSE'), 'utf8'),
    };
  });

const definitions = readFileSync(option('--pages', join(source, '../pages/pages.def')), 'utf8');

// A view is described, with the names that its query may have.
const described = JSON.parse(readFileSync(join(source, 'openapi.json'), 'utf8')).paths;
for (const [, path, , query] of definitions.matchAll(/^VIEW\("(.*?)", "(.*?)", \w+, (.*)\)$/gm)) {
  if (!described[path]?.get) throw new Error(`${path} of pages.def is not described in openapi.json`);
  const names = query === 'NULL' ? [] : query.slice(1, -1).split(', ');
  const said = (described[path].get.parameters ?? [])
    .filter((/** @type {{in: string}} */ parameter) => parameter.in === 'query')
    .map((/** @type {{name: string}} */ parameter) => parameter.name);
  if (names.sort().join() !== said.sort().join())
    throw new Error(`${path}: pages.def has the query names ${names}, openapi.json ${said}`);
}

/**
 * uPlot without the lines that no page draws: 2 KB of every first view.
 * @type {import('esbuild').Plugin}
 */
const plainLines = {
  name: 'plain lines',
  setup: (build) =>
    build.onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path }) => {
      let contents = readFileSync(path, 'utf8');
      for (const kind of ['stepped', 'bars', 'spline']) {
        const whole = contents;
        contents = whole.replace(new RegExp(`^\\t\\(paths\\.${kind} *= \\w+\\);$`, 'm'), '');
        if (contents === whole) throw new Error(`${path} has its ${kind} lines elsewhere`);
      }
      return { contents, loader: 'js' };
    }),
};

/** @param {string} entry */
async function bundle(entry) {
  const result = await esbuild.build({
    absWorkingDir: source,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2020',
    charset: 'utf8',
    legalComments: 'none',
    nodePaths: [modules],
    plugins: [virtual(join(source, 'src'), definitions, licences), plainLines],
    define: { TWINSTACK_VERSION: JSON.stringify(version) },
    loader: { '.js': 'jsx', '.svg': 'text' },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  });
  return Buffer.from(result.outputFiles[0].contents);
}

/** @type {(bytes: Buffer) => string} */
const hash = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 12);
/** @type {(bytes: Buffer) => string} */
const integrity = (bytes) => `'sha256-${createHash('sha256').update(bytes).digest('base64')}'`;

const script = await bundle('src/main.js');
const style = await bundle('src/style.css');
// In an HTML file the script and style end at their closing tags: they must not hold one.
if (/<\/script|<!--/i.test(String(script)) || /<\/style/i.test(String(style)))
  throw new Error('the bundle holds a closing tag and cannot stand inside a page');

const icon = readFileSync(join(source, 'src/icon.svg'));
const names = {
  script: `/assets/app-${hash(script)}.js`,
  style: `/assets/app-${hash(style)}.css`,
  icon: `/assets/icon-${hash(icon)}.svg`,
};

/** @type {(extra: string) => string} */
const head = (extra) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>twinstack</title>
${extra}
</head>
<body>
<div id="app"></div>
<noscript>These pages need scripts; \`twinstack report\` gives the same as text.</noscript>
`;
const index = Buffer.from(
  head(`<link rel="icon" href=".${names.icon}">
<link rel="stylesheet" href=".${names.style}">
<script defer src=".${names.script}"></script>`) + '</body>\n</html>\n',
);

const policy =
  `default-src 'none'; script-src ${integrity(script)}; style-src ${integrity(style)}; ` +
  `img-src data:; base-uri 'none'; form-action 'none'`;
const iconData = `data:image/svg+xml;base64,${icon.toString('base64')}`;
const offlineHead = Buffer.from(
  head(
    `<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="icon" href="${iconData}">
<style>${style}</style>`,
  ) + '<script type="application/json" id="twinstack-data">',
);
const offlineTail = Buffer.from(`</script>\n<script>${script}</script>\n</body>\n</html>\n`);

const files = [
  { path: '/', mime: 'text/html; charset=utf-8', bytes: index, fixed: false },
  { path: names.script, mime: 'text/javascript; charset=utf-8', bytes: script, fixed: true },
  { path: names.style, mime: 'text/css; charset=utf-8', bytes: style, fixed: true },
  { path: names.icon, mime: 'image/svg+xml', bytes: icon, fixed: true },
  {
    path: '/api/v1/openapi.json',
    mime: 'application/json',
    fixed: false,
    bytes: Buffer.from(JSON.stringify(JSON.parse(readFileSync(join(source, 'openapi.json'), 'utf8')))),
  },
];
/** @type {(byte: number) => string} */
const escaped = (byte) =>
  byte < 32 || byte > 126 || '"\\?'.includes(String.fromCharCode(byte))
    ? `\\${byte.toString(8).padStart(3, '0')}`
    : String.fromCharCode(byte);
const brotli = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 22 };
const assets = files.map((file) => ({
  ...file,
  gzip: gzipSync(file.bytes, { level: 9 }),
  brotli: brotliCompressSync(file.bytes, { params: brotli }),
}));
const total = assets.slice(0, 4).reduce((sum, asset) => sum + asset.gzip.length, 0);
if (total > BUDGET_GZIP_BYTES)
  throw new Error(`the bundle is ${total} bytes gzip; the budget is ${BUDGET_GZIP_BYTES}`);

/**
 * BYTES as a string literal, which compiles 30 times as fast as a list of numbers; C ends it with a zero.
 * @type {(name: string, bytes: Buffer) => string}
 */
function array(name, bytes) {
  const rows = [];
  for (let i = 0; i < bytes.length; i += 64)
    rows.push(`"${[...bytes.subarray(i, i + 64)].map(escaped).join('')}"`);
  return `static const unsigned char ${name}[] =\n${rows.join('\n')};\n`;
}

const parts = ['/* Made by dashboard/web/build.mjs; do not edit. */\n#include "web/web.h"\n\n'];
assets.forEach((asset, i) => {
  parts.push(
    array(`plain_${i}`, asset.bytes),
    array(`gzip_${i}`, asset.gzip),
    array(`brotli_${i}`, asset.brotli),
  );
});
parts.push('const struct web_asset web_assets[] = {\n');
assets.forEach((asset, i) => {
  const carried = ['plain', 'gzip', 'brotli'].map((kind) => `${kind}_${i}, sizeof ${kind}_${i} - 1`);
  const texts = [asset.path, asset.mime, `\\"${hash(asset.bytes)}\\"`].map((text) => `"${text}"`);
  parts.push(`    {${[...texts, asset.fixed, ...carried].join(', ')}},\n`);
});
parts.push('};\nconst size_t web_asset_count = sizeof web_assets / sizeof web_assets[0];\n\n');
parts.push(array('offline_head', offlineHead), array('offline_tail', offlineTail));
parts.push(
  'const struct web_text web_offline_head = {offline_head, sizeof offline_head - 1};\n',
  'const struct web_text web_offline_tail = {offline_tail, sizeof offline_tail - 1};\n',
);

mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'web_assets.c'), parts.join(''));
writeFileSync(
  join(out, 'sizes.txt'),
  assets.map((asset) => `${asset.path} ${asset.bytes.length} ${asset.gzip.length}\n`).join('') +
    `total gzip ${total}\n`,
);
