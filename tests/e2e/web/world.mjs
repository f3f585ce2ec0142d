// What the browser tests share: a made-up database, a server, a browser, and a tally.
import { execFileSync, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A page with what this file notes about it: problems, requests for data that have no answer yet, and what
 * another test needs to use it again (null: none may).
 * @typedef {import('playwright-core').BrowserContextOptions} Options
 * @typedef {import('playwright-core').Page & {complaints: string[],
 *   asking: Set<import('playwright-core').Request>, reuse: {key: string} | null}} Page
 * @typedef {import('playwright-core').Browser | null} Browser
 */

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
export const build = process.env.TWINSTACK_BUILD ?? join(root, 'build');
const program = () => process.env.TWINSTACK_PROGRAM ?? join(build, 'bin/twinstack');
const load = createRequire(join(root, 'dashboard/web/node_modules/x.js'));
const shots = join(build, 'screenshots');
export const slowness = Number(process.env.TWINSTACK_TEST_SLOWNESS ?? 1);
// Slows the processor of each page down by this factor, so that tests that depend on speed fail.
const throttle = Number(process.env.TWINSTACK_TEST_THROTTLE ?? 1);
// -l only prints the names of the tests: for that, nothing is made or started.
const listing = process.argv.includes('-l');
const PATIENCE_MS = 30e3 * slowness * throttle;
mkdirSync(shots, { recursive: true });

/** The day in so many days, as `accept` takes it.
 * @type {(days: number) => string} */
export const inDays = (days) => new Date(Date.now() + days * 864e5).toISOString().slice(0, 10);

const folder = mkdtempSync(join(tmpdir(), 'twinstack-web-'));
/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (let tries = 0; ; tries++)
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (tries === 50) throw error; // what a killed run had started may still write there
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
});
/** @type {(name: string) => string} */
export const scratch = (name) => join(folder, name);

/**
 * The arguments are those of seed_store; MORE may be 'wide' or 'newest'.
 * @type {(name: string, runs: number, cases: number, big: number, ...more: string[]) => string}
 */
export function seed(name, runs, cases, big, ...more) {
  const file = scratch(name);
  if (!listing) execFileSync(join(build, 'tests/seed_store'), [file, runs, cases, big, ...more].map(String));
  return file;
}

/**
 * Lets a script in Python change a database of seed(), which the script calls db.
 * @type {(file: string, script: string) => void}
 */
export function alter(file, script) {
  const whole = `import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n${script}\ndb.commit()\n`;
  if (!listing) execFileSync('python3', ['-c', whole, file]);
}

/** @type {(...words: string[]) => Buffer} */
export const twinstack = (...words) =>
  listing ? Buffer.alloc(0) : execFileSync(program(), words, { maxBuffer: 1 << 28 });

/**
 * Starts `twinstack serve` and returns its address once it is printed.  In WORDS, an object adds environment
 * variables, and an array is a command that starts the server.
 * @param {(string | string[] | Record<string, string>)[]} words
 */
export async function serve(...words) {
  if (listing) return { base: 'http://127.0.0.1:1', url: '', token: '', stop: async () => 0, pid: 0 };
  const [first, ...rest] = [
    ...words.filter(Array.isArray).flat(),
    ...[program(), 'serve', '--listen', '127.0.0.1:0'],
    ...words.filter((word) => typeof word === 'string'),
  ];
  const more = words.filter((word) => typeof word === 'object' && !Array.isArray(word));
  const child = spawn(first, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: Object.assign({}, process.env, ...more),
  });
  running.add(child);
  let said = '';
  /** @type {string} */
  const url = await new Promise((done, fail) => {
    child.stdout.on('data', (text) => {
      said += text;
      if (said.includes('\n')) done(said.trim());
    });
    child.stderr.on('data', (text) => {
      said += text;
    });
    child.on('close', (code) => fail(new Error(`serve ended with ${code}: ${said}`)));
  });
  const [base, fragment = ''] = url.split('#');
  /** @type {() => Promise<number | null>} */
  const stop = () =>
    new Promise((done) => {
      child.on('exit', (code) => {
        running.delete(child);
        done(code);
      });
      child.kill('SIGINT');
    });
  return {
    base: base.replace(/\/$/, ''),
    url,
    token: fragment.replace('token=', ''),
    stop,
    pid: must(child.pid),
  };
}

// The server closes a connection that was idle for 5 s, and fetch() uses one again that was so for 4 s by its
// own clock: in a process that got no processor meanwhile, it sends a request into a closed one.  So each
// request has a connection of its own, in ask() and changeAnswers() as well.
const { fetch: fetchOnKept } = globalThis;
globalThis.fetch = (input, asked) => {
  const headers = new Headers(asked?.headers);
  headers.set('Connection', 'close');
  return fetchOnKept(input, { ...asked, headers });
};

/**
 * fetch() does not let a caller set Host; the raw client does.
 * @typedef {{method?: string, headers?: import('node:http').OutgoingHttpHeaders, body?: string}} Asked
 * @type {(base: string, path: string, asked?: Asked) =>
 *   Promise<{status: number, headers: import('node:http').IncomingHttpHeaders, text: string}>}
 */
export const ask = (base, path, { method = 'GET', headers = {}, body = undefined } = {}) =>
  new Promise((done, fail) => {
    const { hostname, port } = new URL(base);
    const asked = request({ host: hostname, port, path, method, headers, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (part) => {
        text += part;
      });
      answer.on('end', () => done({ status: must(answer.statusCode), headers: answer.headers, text }));
    });
    asked.on('error', fail);
    asked.end(body);
  });

/**
 * The data that the server at BASE answers at ROUTE of openapi.json.  Some of PARAMS fill its braces, the
 * others are the query.
 * @type {<Route extends keyof import('openapi').Answers>(base: string, route: Route,
 *   params?: Record<string, string | number>, headers?: Record<string, string>) =>
 *   Promise<import('openapi').Answers[Route]>}
 */
export async function fetchData(base, route, params = {}, headers = {}) {
  const path = route.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(must(params[name], name)));
  const query = Object.entries(params)
    .filter(([name]) => !route.includes(`{${name}}`))
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const url = `${base}${path}${query.length ? '?' : ''}${query.join('&')}`;
  return must((await (await fetch(url, { headers })).json()).data, url);
}

/** @returns {Promise<Browser>} */
export async function browser() {
  /** @type {typeof import('playwright-core')} */
  const { chromium } = load('playwright-core');
  // The first has no window system in it and takes a third less processor time than the others.
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
  const path = names.map((name) => `/usr/bin/${name}`).find(existsSync);
  if (!path || listing) return null;
  return chromium.launch({
    executablePath: path,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--in-process-gpu',
      '--no-zygote',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // One process for all pages: a blank page between two others would cost two new ones, half a second.
      '--disable-site-isolation-trials',
      '--renderer-process-limit=1',
    ],
  });
}
const VIEWPORT = { width: 1360, height: 860 };
/** @type {Map<string, Page[]>} */
const idle = new Map(); // by options: closed pages, ready for another test
const watched = /** @type {const} */ ([
  'pageerror',
  'console',
  'request',
  'requestfinished',
  'requestfailed',
  'response',
]);

/** @type {(chromium: import('playwright-core').Browser, options: Options) => Promise<Page>} */
async function newPage(chromium, options) {
  const context = await chromium.newContext({ viewport: VIEWPORT, colorScheme: 'light', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = Object.assign(await context.newPage(), { complaints: [], asking: new Set(), reuse: null });
  if (throttle > 1)
    await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: throttle });
  return page;
}

// Opens a page and collects all its problems: script errors and violations of the content policy.  It is a
// page that another test closed, if there is one of the same OPTIONS; its window and colours may differ.  The
// browser takes five times as long to make a new one.  FRESH: a new one with an empty cache.
/** @type {(chromium: Browser, url: string, asked?: Options & {fresh?: boolean}) => Promise<Page>} */
export async function openPage(chromium, url, { fresh = false, ...options } = {}) {
  if (!chromium) throw new Skip('there is no chromium');
  const { viewport = VIEWPORT, colorScheme = 'light', ...lasting } = options;
  const key = JSON.stringify(lasting);
  const old = fresh ? undefined : idle.get(key)?.pop();
  await old?.setViewportSize(must(viewport));
  await old?.emulateMedia({ media: null, colorScheme });
  const page = old ?? (await newPage(chromium, options));
  page.reuse = fresh ? null : { key };
  page.complaints = [];
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') page.complaints.push(message.text());
  });
  // Requests for data that have no answer yet.  Two kinds do not count: those for the newest runs, which a
  // page without a live stream polls, and a last one from a page that the browser leaves.
  page.asking = new Set();
  page.on('request', (asked) => {
    if (asked.isNavigationRequest()) page.asking.clear(); // they belong to the old document
    if (/\/api\/v1\/(?!events|runs\?limit=10$)/.test(asked.url())) page.asking.add(asked);
  });
  page.on('requestfinished', (asked) => page.asking.delete(asked));
  page.on('requestfailed', (asked) => page.asking.delete(asked));
  await page.goto(url);
  return page;
}

/**
 * Ends a page of openPage(), which the next test may get: as if it were new, but for its cache.
 * @param {Page} page
 */
export async function closePage(page) {
  const { reuse } = page;
  if (!reuse) return page.context().close();
  for (const event of watched) page.removeAllListeners(event);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  await page.goto('about:blank');
  await page.mouse.move(0, 0);
  idle.set(reuse.key, [...(idle.get(reuse.key) ?? []), page]);
}

/** @param {import('playwright-core').Route} route */
const fetchAlone = (route) => route.fetch({ headers: { ...route.request().headers(), connection: 'close' } });

/**
 * Lets CHANGE return what the page gets instead of each JSON answer to URL.  Pages then come without data
 * inside them, so that they ask for all of it.
 * @type {<T>(page: Page, url: string, change: (body: T) => unknown) => Promise<void>}
 */
export async function changeAnswers(page, url, change) {
  const inside = /<script type="application\/json".*?<\/script>/s;
  await page.route('**/*', async (route) => {
    if (!route.request().isNavigationRequest()) return route.fallback();
    const answer = await fetchAlone(route);
    return route.fulfill({ response: answer, body: (await answer.text()).replace(inside, '') });
  });
  await page.route(url, async (route) => {
    if (route.request().url().includes('/events')) return route.fallback();
    const answer = await fetchAlone(route);
    if (!answer.headers()['content-type']?.includes('json')) return route.fulfill({ response: answer });
    return route.fulfill({ response: answer, json: change(await answer.json()) });
  });
}

/**
 * Waits for two frames: by then, what an event changed is drawn.
 * @type {(page: import('playwright-core').Page) => Promise<unknown>}
 */
export const drawn = (page) =>
  page.evaluate(
    (patience) =>
      new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(done));
        setTimeout(done, document.hidden ? 500 : patience); // a hidden page has no frames
      }),
    PATIENCE_MS / 2,
  );

/**
 * Throws ERROR, which a page has thrown, unless it says that a new document is loading.
 * @param {unknown} error
 */
function unlessLoading(error) {
  if (!/context was destroyed|navigation/i.test(String(error))) throw error;
  return '';
}

/**
 * Waits until two looks in a row find the heading of the page and no request without an answer.  It does
 * without locators: for those, each new document first compiles 300 kB of Playwright's script.
 * @param {Page} page
 */
export async function settled(page) {
  const end = performance.now() + PATIENCE_MS;
  for (let looks = 0; looks < 2;) {
    let rests = false;
    try {
      rests = await page.evaluate(
        (patience) =>
          new Promise((done) => {
            const look = () =>
              done(
                !document.querySelector('.loading') &&
                  (document.querySelector('main h1, main .state')?.getClientRects().length ?? 0) > 0,
              );
            requestAnimationFrame(() => requestAnimationFrame(look));
            setTimeout(look, document.hidden ? 500 : patience); // a hidden page has no frames
          }),
        PATIENCE_MS / 2,
      );
    } catch (error) {
      unlessLoading(error);
    }
    looks = rests && page.asking.size === 0 ? looks + 1 : 0;
    check(
      performance.now() < end,
      `${page.url()} does not come to rest: ${[...page.asking].map((asked) => asked.url())}`,
    );
  }
}

/**
 * A page changes some time after the event that changes it, so LOOK runs again until its result FITS.
 * @template T
 * @param {() => T | Promise<T>} look
 * @param {(got: T) => unknown} fits
 * @param {(got: T) => string} say
 * @returns {Promise<T>}
 */
async function until(look, fits, say) {
  const end = performance.now() + PATIENCE_MS;
  for (let pause = 10; ; pause = Math.min(2 * pause, 250)) {
    const got = await look();
    if (fits(got)) return got;
    check(performance.now() < end, say(got));
    await new Promise((done) => setTimeout(done, pause));
  }
}
/** @type {<T>(look: () => T | Promise<T>, want: T, what: string) => Promise<T>} */
export const becomes = (look, want, what) =>
  until(
    look,
    (got) => JSON.stringify(got) === JSON.stringify(want),
    (got) => `${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(want)}`,
  );
/** @type {<T>(look: () => T | Promise<T>, what: string | (() => string)) => Promise<T>} */
export const holds = (look, what) =>
  until(
    look,
    (got) => got,
    () => (typeof what === 'function' ? what() : what),
  );
/**
 * Waits until the text of the first PART of the page contains WORDS.
 * @type {(page: Page, part: string, words: string, what?: string) => Promise<string>}
 */
export const says = (page, part, words, what = part) =>
  until(
    () =>
      page.evaluate((where) => document.querySelector(where)?.textContent ?? '', part).catch(unlessLoading),
    (text) => text.includes(words),
    (text) => `${what}: "${words}" is not in "${text.slice(0, 2000)}"`,
  );
/**
 * Moves the pointer across PLOT, from X (0 to 1 of its width) to the right, until a dot is under it.  Returns
 * the position.
 * @type {(page: Page, plot: string, x: number, what: string) => Promise<[number, number]>}
 */
export async function findDot(page, plot, x, what) {
  const found = page.locator(plot).first();
  await found.scrollIntoViewIfNeeded(); // the pointer reaches only what the window shows
  const box = must(await holds(() => found.boundingBox(), `${plot} is not there`));
  for (let left = box.width * x; left < box.width; left += 4)
    for (let top = 2; top < box.height; top += 6) {
      await page.mouse.move(box.x + left, box.y + top);
      await drawn(page);
      if (await page.locator('.plot .near a').count()) return [box.x + left, box.y + top];
    }
  throw new Error(`${what}: no dot under the pointer`);
}
/**
 * Takes a picture for people to look at, in a soak and in a test that is asked for by its name.
 * @type {(page: Page, name: string, more?: import('playwright-core').PageScreenshotOptions) => Promise<void>}
 */
export async function shot(page, name, more = {}) {
  if (soak || asksForTest) await page.screenshot({ path: join(shots, `${name}.png`), ...more });
}
export const axeSource = () => load.resolve('axe-core/axe.min.js');
export const Ajv = () => load('ajv/dist/2020').default;

/** Every page that shows data, with a database of three runs from seed(). */
export const views = [
  '/',
  '/runs',
  '/runs/3',
  '/runs/3/mismatches',
  '/runs/3/mismatches/inline_chain.ob2?frame=1',
  '/cases/inline_chain/ob2',
  '/compare/1/3',
  '/timing',
  '/trend?metric=f1',
  '/hooks',
  '/signatures',
  '/known',
  '/symbols',
  '/glossary',
];

// A part of the test names to run.
const [wordAsked = ''] = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const asksForTest = wordAsked !== '';

/** True if each test takes all that it can. */
export const soak = Boolean(process.env.TWINSTACK_SOAK ?? process.env.TWINSTACK_SOAK_SECONDS);

/** @type {[string, () => unknown][]} */
const tests = [];
/** @type {(name: string, body: () => unknown) => unknown} */
export const test = (name, body) => tests.push([name, body]);
/** @type {(held: unknown, what: string) => void} */
export function check(held, what) {
  if (!held) throw new Error(what);
}
/**
 * Returns GOT, which must be there.
 * @type {<T>(got: T, what?: string) => NonNullable<T>}
 */
export function must(got, what = 'what the test reads') {
  if (got === null || got === undefined) throw new Error(`${what} is not there`);
  return got;
}
/**
 * Returns ERROR, which something threw, with what Node adds to errors of commands and of the system.
 * @type {(error: unknown) => Error & {status?: number | null, stderr?: Buffer | string, code?: string}}
 */
export function failure(error) {
  if (!(error instanceof Error)) throw error;
  return error;
}
/** @type {(got: unknown, want: unknown, what?: string) => void} */
export const same = (got, want, what = 'got') =>
  check(
    JSON.stringify(got) === JSON.stringify(want),
    `${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(want)}`,
  );

export class Skip extends Error {}

// A soak adds its own duration.
const LIMIT_S = 300 * slowness + Number(process.env.TWINSTACK_SOAK_SECONDS ?? 0);

export async function runAll() {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const wanted = tests.filter(([name]) => name.includes(wordAsked));
  if (listing) {
    console.log(wanted.map(([name]) => name).join('\n'));
    process.exit(0);
  }
  for (const [name, body] of wanted) {
    const timer = setTimeout(() => {
      console.log(`FAIL ${name}: over ${LIMIT_S} s`);
      process.exit(1);
    }, LIMIT_S * 1e3);
    try {
      await body();
      counts.passed++;
      console.log(`ok   ${name}`);
    } catch (error) {
      if (error instanceof Skip) {
        counts.skipped++;
        console.log(`skip ${name}: ${error.message}`);
      } else {
        counts.failed++;
        console.log(`FAIL ${name}: ${error instanceof Error ? error.stack : error}`);
        if (error instanceof Error && error.cause) console.log(`     because of ${error.cause}`);
        console.log(`     again, whatever the commit: node ${process.argv[1]} ${name}`);
      }
    }
    clearTimeout(timer);
  }
  console.log(`tally ${counts.passed} ${counts.failed} ${counts.skipped}`);
  process.exit(counts.failed === 0 ? 0 : 1);
}
