// What the pages say, whole, without a browser: each page over made runs, what each button, field and key
// of it changes, and the same of a page that is a file. tests/golden/pages.br has the expected texts. They
// guard words, order, counts and links, never truth: that a page is right is what the other tests say.
//
//   test_web_whole.mjs --write    puts what differs into it, and prints that
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { check, must, root, runAll, scratch, seed, serve, test, twinstack } from './web/world.mjs';
import { Paper, carried, happens, parts } from './web/paper.mjs';

const GOLDEN = join(root, 'tests/golden/pages.br');
const write = process.argv.includes('--write');
/** @type {Record<string, string[]>} the lines of each picture */
const known = existsSync(GOLDEN) ? JSON.parse(brotliDecompressSync(readFileSync(GOLDEN)).toString()) : {};
/** @type {Record<string, string[]>} */
const said = {};

// Of some only the picture: what takes a click there is on another page, too.
const SEEN = [
  '/?run=1',
  '/runs?branch=main',
  '/runs/1',
  '/runs/latest?search=rec&fold=0',
  '/runs/latest/mismatches?group=1&search=o',
  '/runs/latest/mismatches/recursion.ob2?frame=3',
  '/runs/latest/mismatches?problem=a4b85c891f24892d',
  '/runs/1/mismatches/inline_chain.ob0',
  '/compare',
  '/compare/3/1',
  '/compare/1/2',
  '/timing?run=1',
  '/trend?metric=dump_write_ns',
  '/hooks?differs=1',
  '/signatures?run=1',
  '/problems/ce2f133ae0b1cfc2',
  '/problems/1b5ab454987f4b58',
  `/resolve#stack=${encodeURIComponent('> a\nvictims-ob2.exe!0x1601\nno frame\n> b\nntdll.dll!0x1\n')}`,
  '/symbols',
  '/glossary',
  '/runs/77',
  '/nowhere',
];
const CHANGED = [
  '/',
  '/runs',
  '/runs/latest',
  '/runs/latest/mismatches/recursion.ob2',
  '/cases/recursion/ob2',
  '/compare/1/3',
  '/timing',
  '/trend',
  '/hooks',
  '/signatures',
  '/problems',
  '/known',
  '/resolve',
  '/api',
  '/about',
];

// The newest of three runs is broken by two faults; some of what is wrong is accepted.
const db = seed('whole.db', 2, 12, 0);
seed('whole.db', 0, 0, 24, 'red');
writeFileSync(
  scratch('known.txt'),
  `[old]
scope: recursion.*
cause: truncated
reason: of long ago
expires: 2001-02-03

[new]
scope: null_write.ob2
cause: *
reason: to come
issue: https://example.org/1
expires: 2099-02-03
`,
);
mkdirSync(scratch('spool/partials/ready'), { recursive: true });
for (const [day, rows] of /** @type {[string, string[]][]} */ ([
  ['08', ['poke | middle | main', 'draw <b> | main']],
  ['21', ['poke | middle | main', 'app.exe!0x1234']],
])) {
  writeFileSync(
    scratch(`spool/partials/ready/s-${day}`),
    `${JSON.stringify({
      shadow: 1,
      id: `alice-report-${day}`,
      hour: `2026-11-${day}T07`,
      version: `${day}.0`,
      verdict: 'DISAGREE',
      signature: rows[0],
      engines: [
        { engine: 'offset:rtl', against: null, result: 'same', cause: null, module: null, ns: 81000 },
        {
          engine: 'dump',
          against: 'offset:rtl',
          result: 'differs',
          cause: 'frame-missing',
          module: 'ntdll.dll',
          ns: 1900000,
        },
      ],
    })}\n`,
  );
  const lines = rows.map(
    (text, i) => `${40 - 9 * i}\t0\t2026-11-${day}T07:15:00Z\tapp.exe!0x${i}\\nntdll.dll!0x10\t${text}\n`,
  );
  writeFileSync(
    scratch(`spool/partials/ready/p-${day}`),
    `#signatures\t1\t2\t71\t0\t0\tr-${day}\t2026-11-${day}T07\t${day}.0\n${lines.join('')}`,
  );
}
twinstack('reduce', '--queue', scratch('spool'), '--totals', scratch('totals'), '--idle', '100ms');

const server = await serve(
  '--db',
  db,
  '--known',
  scratch('known.txt'),
  '--totals',
  scratch('totals'),
  '--allow-write',
  {
    GITHUB_SHA: '0123456789abcdef',
    GITHUB_REF_NAME: 'main',
  },
);

/** What left the page since the last picture: texts to the clipboard, files. @type {(string | Blob)[]} */
const left = [];
Object.defineProperty(globalThis, 'navigator', {
  value: { clipboard: { writeText: async (/** @type {string} */ text) => left.push(text) } },
});
URL.createObjectURL = (blob) => `blob:${left.push(/** @type {Blob} */ (blob))}`;
const { fetch: fetchThere } = globalThis;
// The made runs have days of their own, and so has the page: the day after the newest.
const AT = Date.UTC(2026, 11, 1);
globalThis.Date = /** @type {any} */ (
  class extends Date {
    /** @param {any[]} given */
    constructor(...given) {
      super(...(given.length > 0 ? /** @type {[number]} */ (given) : /** @type {[number]} */ ([AT])));
    }
    static now() {
      return AT;
    }
  }
);
let waiting = 0; // for what is read
/** @type {(owner: any, name: string, reads: Function) => void} */
const counted = (owner, name, reads) => {
  owner[name] = async function (/** @type {unknown[]} */ ...given) {
    waiting++;
    try {
      return await reads.apply(this, given);
    } finally {
      waiting--;
    }
  };
};
for (const name of ['text', 'json', 'blob'])
  counted(Response.prototype, name, Reflect.get(Response.prototype, name));
for (const name of ['text', 'arrayBuffer']) counted(Blob.prototype, name, Reflect.get(Blob.prototype, name));
counted(globalThis, 'fetch', (/** @type {string} */ path, /** @type {RequestInit} */ asked) =>
  fetchThere(new URL(path, server.base), asked),
);
const { fetch: fetchCounted } = globalThis;
globalThis.fetch = (path, asked) =>
  String(path).endsWith('/events') ? new Promise(() => {}) : fetchCounted(path, asked); // no event comes

/** @type {(node: any, depth?: number) => string[]} */
function tree(node, depth = 0) {
  const pad = ' '.repeat(depth);
  if (node.localName === null) return node.data === '' ? [] : [pad + node.data];
  const marks = Object.entries(node.attributes)
    .sort()
    .map(([name, value]) => ` ${name}=${value}`);
  const style = Object.entries(node.style).filter(([, value]) => typeof value === 'string');
  return [
    `${pad}<${node.localName}${marks.join('')}${style.map(([name, value]) => ` ${name}:${value}`).join('')}>`,
    ...node.childNodes.flatMap((/** @type {any} */ child) => tree(child, depth + 1)),
    ...plot(node.plotted).map((line) => pad + line),
  ];
}

const TICKS = [0, 1, 7, 999, 1e3, 1e6, 1.5e9];
/** What a plot was given. @type {(plotted?: {options: any, data: unknown}) => string[]} */
function plot(plotted) {
  if (!plotted) return [];
  const { options, data } = plotted;
  const axes = (options.axes ?? []).map((/** @type {any} */ axis) => [
    axis.values?.(null, TICKS),
    axis.filter?.(null, TICKS),
  ]);
  return [JSON.stringify(data), JSON.stringify(options), JSON.stringify(axes)];
}

const folder = scratch('');
/** Without what differs from machine to machine. @type {(line: string) => string} */
const replaced = (line) =>
  line
    .replaceAll(server.base, 'URL')
    .replaceAll(folder, 'FOLDER')
    .replace(/\b[0-9a-f]{32}\b/g, 'UUID');

/** What only BEFORE has, and what only AFTER has.
 * @type {(before: string[], after: string[]) => string[]} */
function differing(before, after) {
  const [had, has] = [new Set(before), new Set(after)];
  return [
    ...before.filter((line) => !has.has(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !had.has(line)).map((line) => `+ ${line}`),
  ];
}

/**
 * Every page, and what each part of those CHANGED that takes a click, a choice, a text or a key changes.
 * @type {(what: string, changed: string[]) => Promise<void>}
 */
async function visit(what, changed) {
  const { api, router, painted, keys } = await parts('main', 'api', 'router', 'painted', 'keys');
  const app = () => /** @type {any} */ (document.getElementById('app'));
  const shown = () => [document.title, location.href, ...tree(app())].map(replaced);
  const settled = async () => {
    for (let before = -1, same = 0; same < 8;) {
      await new Promise((done) => setTimeout(done, 1));
      same = before === Paper.changes && waiting === 0 && !api.isAsking() ? same + 1 : 0;
      before = Paper.changes;
    }
  };
  await painted.painted;
  while (!document.getElementById('main')) await new Promise((done) => setTimeout(done, 5));
  const pressed = new Set(); // keys that mean the same on other pages
  for (const page of [...SEEN, ...CHANGED]) {
    const anew = async () => {
      router.go('/none');
      await settled();
      router.go(page);
      await settled();
      return shown();
    };
    // On a busy machine an answer may come after the page has settled, so it is drawn until it is as before.
    const again = async (/** @type {string[]} */ before) => {
      let now = await anew();
      for (let tries = 0; tries < 20 && now.join('\n') !== before.join('\n'); tries++) {
        before = now;
        now = await anew();
      }
      return now;
    };
    const first = await again(await anew());
    said[`${what} ${page}`] = first;
    if (!changed.includes(page)) continue;
    const done = new Set();
    /** @type {(name: string, does: () => void) => Promise<void>} */
    const change = async (name, does) => {
      if (done.has(name)) return;
      done.add(name);
      await again(first);
      does();
      await settled();
      const files = left.splice(0).map((part) => (typeof part === 'string' ? part : part.text()));
      said[`${what} ${page} ${name}`] = [...differing(first, shown()), ...(await Promise.all(files))];
    };
    /** @type {[number, string, string][]} */
    const takes = app()
      .all('*')
      .flatMap((/** @type {any} */ node, /** @type {number} */ i) =>
        Object.keys(node.attributes.class === 'shell' ? {} : node.listeners).map((event) => [
          i,
          event,
          `${node.localName} ${node.textContent.slice(0, 20)}`,
        ]),
      );
    for (const [i, event, name] of takes)
      await change(`${event} ${name}`, () => {
        const at = app().all('*')[i];
        const last = at.all('option').at(-1);
        at.value = last ? (last.attributes.value ?? last.textContent) : 'rec';
        at.checked = at.open = true;
        const rest = {
          target: at,
          currentTarget: at,
          key: 'Enter',
          preventDefault() {},
          stopPropagation() {},
        };
        at.listeners[event].call(at, { type: event, ...rest });
      });
    for (const [key, [words]] of Object.entries(keys.listKeys())) {
      if (pressed.has(key + words)) continue;
      pressed.add(key + words);
      await change(`key ${key}`, () => happens('keydown', { key, target: document, preventDefault() {} }));
    }
  }
}

/** @param {string} what */
function compare(what) {
  const text = Object.fromEntries(Object.entries(said).map(([name, lines]) => [name, lines.map(replaced)]));
  const names = new Set(Object.keys({ ...known, ...text }).filter((name) => name.startsWith(`${what} `)));
  const other = [...names].filter((name) => JSON.stringify(known[name]) !== JSON.stringify(text[name]));
  const shown = other
    .flatMap((name) => [name, ...differing(known[name] ?? [], text[name] ?? [])])
    .slice(0, 60);
  const differ = [`${other.length} of ${names.size} differ; --write takes it, if it is meant`, ...shown].join(
    '\n',
  );
  check(write || other.length === 0, differ);
  if (!write) return;
  console.log(differ);
  for (const name of names) delete known[name];
  Object.assign(known, text);
  writeFileSync(GOLDEN, brotliCompressSync(JSON.stringify(known)));
}

test('pages_of_a_server', async () => {
  await visit('served', CHANGED);
  compare('served');
});

test('pages_of_a_file', async () => {
  const file = scratch('whole.html');
  twinstack('report', '--db', db, '--html', file, '--exit-zero');
  const held = /id="twinstack-data">(.*?)<\/script>/s.exec(readFileSync(file, 'utf8'));
  carried['twinstack-data'] = { textContent: must(held)[1] };
  await visit('file', ['/runs/latest', '/hooks', '/resolve']);
  compare('file');
});

await runAll();
