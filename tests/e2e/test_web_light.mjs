// Measures the bytes of a first view and the time until it shows, on a run of 4,000 cases, in a soak of
// 10,000. The time is checked in a soak only, where nothing runs beside it:
// the median of five views, each by a new process with an empty cache, one page at a time.
// Only this finds bytes that a first view loads and does not need.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import {
  browser,
  check,
  holds,
  must,
  openPage,
  runAll,
  same,
  seed,
  serve,
  settled,
  slowness,
  soak,
  test,
  twinstack,
  closePage,
} from './web/world.mjs';

const FIRST_VIEW_BYTES = 150 * 1024;
const FIRST_VIEW_NODES = 1000; // elements of a page take most of the time until it shows
const LCP_MS = 300;
const chromium = await browser();
seed('light.db', 3, 24, 0);
const light = seed('light.db', 0, 0, soak ? 10000 : 4000, 'newest');
twinstack('db', 'upgrade', '--db', light); // as after a run
const server = await serve('--db', light);
const big = 4; // the large run, the newest

test('assets_come_as_brotli_gzip_or_plain', async () => {
  const path = must(/src="\.(\/assets\/[^"]+)"/.exec(await (await fetch(server.base)).text()))[1];
  /** @type {(encoding: string | null) => Promise<{encoding: string | undefined, body: Buffer}>} */
  const raw = (encoding) =>
    new Promise((done) => {
      const words = ['-s', '-D', '-', '-o', '-', ...(encoding ? ['-H', `Accept-Encoding: ${encoding}`] : [])];
      const out = execFileSync('curl', [...words, server.base + path], { maxBuffer: 1 << 24 });
      const end = out.indexOf('\r\n\r\n') + 4;
      const head = out.subarray(0, end).toString();
      done({ encoding: /content-encoding: (\w+)/i.exec(head)?.[1], body: out.subarray(end) });
    });
  const [plain, gzip, br, both] = await Promise.all([
    raw(null),
    raw('gzip'),
    raw('br'),
    raw('gzip, deflate, br;q=0.9'),
  ]);
  same(
    [plain.encoding, gzip.encoding, br.encoding, both.encoding],
    [undefined, 'gzip', 'br', 'br'],
    'encodings',
  );
  check(
    gunzipSync(gzip.body).equals(plain.body) && brotliDecompressSync(br.body).equals(plain.body),
    'one text',
  );
  check(br.body.length < gzip.body.length && gzip.body.length < plain.body.length / 2, 'each smaller');
});

/**
 * Opens a page with an empty cache, in a soak in a new process.  Returns the bytes on the wire, the time of
 * its largest paint, and the number of its elements.
 * @param {string} url
 */
async function firstView(url) {
  const page = await openPage(chromium, 'about:blank', { fresh: soak });
  const wire = await page.context().newCDPSession(page);
  await wire.send('Network.clearBrowserCache');
  /** @type {string[]} */
  const rows = [];
  const asked = new Map();
  let total = 0;
  await wire.send('Network.enable');
  wire.on('Network.requestWillBeSent', (event) => asked.set(event.requestId, event.request.url));
  wire.on('Network.loadingFinished', (event) => {
    total += event.encodedDataLength;
    rows.push(`${event.encodedDataLength} ${asked.get(event.requestId)}`);
  });
  await page.goto(url);
  await settled(page);
  await page.waitForTimeout(200);
  /** @type {number} */
  const lcp = await page.evaluate(
    () =>
      new Promise((done) => {
        new PerformanceObserver((list) => done(list.getEntries().at(-1)?.startTime ?? Infinity)).observe({
          type: 'largest-contentful-paint',
          buffered: true,
        });
        setTimeout(() => done(Infinity), 2000);
      }),
  );
  const nodes = await page.locator('*').count();
  same(page.complaints, [], 'complaints');
  await wire.detach();
  await closePage(page);
  return { total, rows, lcp, nodes };
}

const ofRun = [
  ['overview', '/'],
  ['run', `/runs/${big}`],
  ['mismatches', `/runs/${big}/mismatches`],
  ['case', `/runs/${big}/mismatches/inline_chain.ob2`],
  ['runs', '/runs'],
  ['timing', `/timing?run=${big}`],
  ['hooks', `/hooks?run=${big}`],
  ['signatures', `/signatures?run=${big}`],
];
// They do not depend on the number of cases.
const others = [
  ['compare', '/compare/2/3'],
  ['trend', '/trend'],
  ['history', '/cases/inline_chain/ob2'],
  ['known', '/known'],
  ['symbols', '/symbols'],
  ['problems', '/problems'],
  ['resolve', '/resolve'],
  ['api', '/api'],
  ['glossary', '/glossary'],
  ['about', '/about'],
];
const VIEWS = 5;
/** @type {(values: number[]) => number} */
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

// A page of one line, without script or style: what the browser needs for any page.
test('what_an_empty_page_takes', async () => {
  const plain = createServer((_, answer) => {
    answer.setHeader('Content-Type', 'text/html');
    answer.end('<!doctype html><title>empty</title><main><h1>One line</h1></main>');
  }).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (plain.address());
  const times = [];
  while (times.length < VIEWS) times.push((await firstView(`http://127.0.0.1:${port}/`)).lcp);
  console.log(`     LCP ${times.map((ms) => ms.toFixed(0)).join(' ')} ms  an empty page`);
  plain.close();
});

for (const [name, path] of [...ofRun, ...others])
  test(`first_view_of_${name}_is_light_and_soon`, async () => {
    const views = [];
    while (views.length < (soak ? VIEWS : 1)) views.push(await firstView(server.base + path));
    const [{ total, rows, nodes }] = views;
    const times = views.map((view) => view.lcp);
    const list = times.map((ms) => ms.toFixed(0)).join(' ');
    console.log(`     ${(total / 1024).toFixed(0)} KB, LCP ${list} ms, ${nodes} elements  ${path}`);
    check(total <= FIRST_VIEW_BYTES, `${total} bytes:\n${rows.join('\n')}`);
    check(nodes <= FIRST_VIEW_NODES, `${nodes} elements`);
    if (soak) check(median(times) <= LCP_MS * slowness, `LCP ${list} ms`);
  });

/**
 * What the page at PATH asks for, once it has come to rest: addresses of data.
 * @type {(page: import('./web/world.mjs').Page, path: string) => Promise<string[]>}
 */
async function askedBy(page, path) {
  /** @type {string[]} */
  const asked = [];
  /** @type {(request: import('playwright-core').Request) => void} */
  const note = (request) => {
    const { pathname, search } = new URL(request.url());
    // A page without a live stream polls the list of runs.
    if (/^\/api\/v1\/(?!events|runs\?limit=10$)/.test(pathname + search)) asked.push(pathname + search);
  };
  await page.goto('about:blank');
  page.on('request', note);
  await page.goto(server.base + path);
  await settled(page);
  // The page polls if pages of other tests occupy all live streams.
  await page.waitForSelector('.live-live, .live-polling');
  await page.waitForTimeout(300); // the stream's first event comes after the data
  page.off('request', note);
  return asked;
}

test('a_page_asks_for_its_data_once', async () => {
  const page = await openPage(chromium, `${server.base}/about`);
  for (const path of `/ /runs /runs/3 /runs/3/mismatches /cases/inline_chain/ob2 /timing /hooks /signatures
    /known /symbols /runs/3/mismatches/inline_chain.ob2 /timing?run=2 /hooks?run=2 /trend /compare/2/3
    /trend?metric=f1 /runs/3/mismatches?cause=truncated
    /runs/3/mismatches/inline_chain.ob2?frame=1`.split(/\s+/)) {
    const asked = await askedBy(page, path);
    check(asked.length > 0, `${path}: asks for nothing`);
    same(
      asked.filter((one, i) => asked.indexOf(one) !== i),
      [],
      `${path}: asked twice`,
    );
  }
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

// Of 100,000 cases, one that is not kept is made in seconds while a visitor waits.
test('what_pages_of_any_run_ask_for_is_kept', async () => {
  const script = `import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("SELECT address FROM shown ORDER BY address"): print(row[0])`;
  const kept = execFileSync('python3', ['-c', script, light], { encoding: 'utf8' })
    .split('\n')
    .filter((address) => address.startsWith('/api/'));
  const page = await openPage(chromium, `${server.base}/about`);
  /** What PATHS ask for; lists of runs have those in progress, and a case takes no longer in a large run.
   * @type {(paths: string) => Promise<string[]>} */
  const askedOf = async (paths) => {
    const asked = new Set();
    for (const path of paths.split(/\s+/))
      for (const address of await askedBy(page, path)) asked.add(address);
    return [...asked].filter((address) => !/^\/api\/v1\/runs(\?|\/\w+\/cases\/)/.test(address)).sort();
  };
  /** @type {(run: number) => string} */
  const pagesOf = (run) => `/runs/${run} /runs/${run}/mismatches /timing?run=${run} /hooks?run=${run}
    /signatures?run=${run} /symbols?run=${run}`;
  const older = /\/runs\/[123]\b|run=[123]$/;
  same(
    await askedOf(`/ /runs/latest /runs/latest/mismatches /timing /trend /hooks /signatures /symbols
      ${pagesOf(big)}`),
    kept.filter((address) => !older.test(address)),
    'asked for, and kept',
  );
  for (const run of [1, 2, 3])
    same(
      (await askedOf(pagesOf(run))).filter((address) => !kept.includes(address)),
      [],
      `asked for of run ${run}, and not kept`,
    );
  await closePage(page);
});

test('large_documents_are_shown', async () => {
  for (const [path, part, count] of /** @type {[string, string, number][]} */ ([
    ['/hooks', '.matrix tbody tr', 50],
    ['/timing', '.uplot canvas', 2],
    [`/runs/${big}`, '.gridbox tbody tr', 5],
  ])) {
    const page = await openPage(chromium, `${server.base}${path}`);
    await holds(async () => (await page.locator(part).count()) >= count, `${path}: ${part}`);
    same(page.complaints, [], 'complaints');
    await closePage(page);
  }
});

await runAll();
