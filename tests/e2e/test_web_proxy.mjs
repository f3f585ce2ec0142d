// Tests the server through a reverse proxy (nginx: TLS, another name and port, a path prefix), with the
// token, and tests concurrent writers.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { request } from 'node:https';
import { join } from 'node:path';
import {
  browser,
  build,
  check,
  closePage,
  fetchData,
  inDays,
  openPage,
  runAll,
  same,
  says,
  scratch,
  seed,
  serve,
  settled,
  Skip,
  slowness,
  test,
  twinstack,
} from './web/world.mjs';
/** @import { CaseLine } from 'openapi' */
/** @import { Asked } from './web/world.mjs' */

const NAME = 'twinstack.localhost';
const db = seed('proxy.db', 12, 24, 0);
const known = scratch('known.txt');
const chromium = await browser();
const server = await serve('--db', db, '--allow-remote', '--allow-write', '--host', NAME, '--known', known);
const nginx = [join(build, 'nginx/usr/sbin/nginx'), '/usr/sbin/nginx'].find(existsSync);

/** @returns {Promise<number>} */
const freePort = () =>
  new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
      probe.close(() => done(port));
    });
  });

/** @type {ReturnType<typeof beginProxy> | undefined} */
let started; // one proxy serves all tests
const startProxy = () => (started ??= beginProxy());

async function beginProxy() {
  if (!nginx) throw new Skip('there is no nginx');
  const folder = scratch('proxy');
  const port = await freePort();
  mkdirSync(folder);
  const words = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${NAME} -keyout key.pem -out cert.pem`;
  execFileSync('openssl', words.split(' '), { cwd: folder, stdio: 'ignore' });
  const pass = `proxy_set_header Host $http_host; proxy_http_version 1.1; proxy_buffering off;`;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ');
  writeFileSync(
    `${folder}/nginx.conf`,
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
http { access_log off; ${temporary}
  server { listen 127.0.0.1:${port} ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem;
    location / { proxy_pass ${server.base}; ${pass} }
    location /crashes/ { proxy_pass ${server.base}/; ${pass} } } }`,
  );
  const child = spawn(nginx, ['-p', folder, '-c', `${folder}/nginx.conf`], { stdio: 'ignore' });
  process.on('exit', () => child.kill('SIGTERM'));
  const proxy = { base: `https://${NAME}:${port}`, port };
  for (let tries = 0; tries < 300 * slowness; tries++) {
    try {
      await ask(proxy, '/healthz');
      return proxy;
    } catch {
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  throw new Error(`nginx does not answer: ${readFileSync(`${folder}/error.log`, 'utf8')}`);
}

/** @type {(proxy: {port: number}, path: string, asked?: Asked) =>
 *   Promise<{status: number | undefined, text: string}>} */
function ask(proxy, path, { method = 'GET', headers = {}, body = undefined } = {}) {
  const host = { Host: `${NAME}:${proxy.port}`, ...headers };
  const where = {
    host: '127.0.0.1',
    port: proxy.port,
    path,
    method,
    headers: host,
    rejectUnauthorized: false,
  };
  return new Promise((done, fail) => {
    const asked = request(where, (answer) => {
      let text = '';
      answer.on('data', (part) => {
        text += part;
      });
      answer.on('end', () => done({ status: answer.statusCode, text }));
    });
    asked.on('error', fail);
    asked.end(body);
  });
}

test('a_proxy_with_tls_another_name_and_a_prefix', async () => {
  const proxy = await startProxy();
  const token = { 'X-Token': server.token };
  /** @type {(path: string, more?: Asked) => Promise<number | undefined>} */
  const status = async (path, more) => (await ask(proxy, path, more)).status;
  same(await status('/'), 200, 'the page needs no token');
  same(await status('/api/v1/runs'), 401, 'data without the token');
  same(await status('/api/v1/runs', { headers: token }), 200, 'data with it');
  same(await status('/crashes/api/v1/runs', { headers: token }), 200, 'the API below a prefix');
  same(await status('/api/v1/runs', { headers: { ...token, Host: 'evil.example' } }), 421, 'another name');
  /** @param {string} origin */
  const write = (origin) =>
    status('/api/v1/baseline', {
      method: 'PUT',
      body: '{"run":3}',
      headers: { ...token, Origin: origin, 'Content-Type': 'application/json', 'Content-Length': 9 },
    });
  same(await write(proxy.base), 200, 'a write of our page');
  same(await write('https://evil.example'), 403, "a write of another site's page");

  const page = await openPage(chromium, `${proxy.base}/#token=${server.token}`, { ignoreHTTPSErrors: true });
  await settled(page);
  await says(page, 'main', 'Run 12', 'the page shows the run');
  await page.waitForSelector('.live-live');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('all_pages_work_below_a_prefix', async () => {
  const proxy = await startProxy();
  const below = `${proxy.base}/crashes`;
  const page = await openPage(chromium, `${below}/#token=${server.token}`, {
    ignoreHTTPSErrors: true,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  /** @type {string[]} */
  const outside = [];
  page.on('request', (asked) => asked.url().startsWith(`${below}/`) || outside.push(asked.url()));
  page.on(
    'response',
    (answer) => answer.status() >= 400 && outside.push(`${answer.status()} ${answer.url()}`),
  );
  await settled(page);
  await says(page, 'main', 'Run 12', 'the first page shows the run');
  await page.waitForSelector('.live-live');
  const to = await page
    .locator('.rail li a:not([data-plain])') // the others lead out of the document
    .evaluateAll((links) => links.map((link) => /** @type {HTMLAnchorElement} */ (link).href));
  check(to.length > 10 && to.every((link) => link.startsWith(`${below}/`)), `the rail: ${to}`);
  for (const link of to) {
    await page.click(`.rail li a[href="${new URL(link).pathname}"]`); // within the same document
    await page.waitForURL((url) => url.pathname.startsWith(new URL(link).pathname));
    await settled(page);
    const [title] = await page.locator('main h1').allTextContents();
    await page.goto(link); // in a new document
    await settled(page);
    same(await page.locator('main h1').first().textContent(), title, link);
  }
  await page.goto(`${below}/runs/12/mismatches`);
  await settled(page);
  await page.click('button:has-text("Copy link")');
  await page.waitForFunction(() => document.body.textContent.includes('link copied'));
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  check(copied.startsWith(`${below}/runs/12/mismatches/`), `the link: ${copied}`);
  await page.goto(copied);
  await settled(page);
  same(page.url(), copied, 'the link stays');
  check((await page.locator('main .state').count()) === 0, 'and shows its case');
  const saved = page.waitForEvent('download');
  await page.click('.downloads button:has-text("record"), .downloads button:has-text("truth")');
  await (await saved).path();
  await page.goto(`${below}/nope/at/all`);
  await says(page, 'main', 'There is no such page', 'a wrong address');
  same(
    [
      outside.filter((line) => !line.includes('/nope/at/all')),
      page.complaints.filter((text) => !text.includes('404')),
    ],
    [[], []],
    'requests outside of the prefix, and complaints',
  );
  await closePage(page);
});

test('writers_at_once_lose_nothing', async () => {
  const headers = { 'Content-Type': 'application/json', 'X-Token': server.token };
  const asked = { run: 12, verdict: 'FAIL', limit: 50 };
  const { cases: failing } = await fetchData(server.base, '/api/v1/runs/{run}/cases', asked, headers);
  check(failing.length > 1, 'cases to accept');
  // 503 says that too many bodies are on their way: "try again in a moment".
  /** @type {(path: string, options: RequestInit) => Promise<Response>} */
  const write = async (path, options) => {
    for (;;) {
      const answer = await fetch(`${server.base}/api/v1/${path}`, options);
      if (answer.status !== 503) return answer;
      same((await answer.json()).error.key, 'busy', path);
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  /** @param {CaseLine} c */
  const accept = (c) =>
    write('known', {
      method: 'POST',
      headers,
      body: JSON.stringify({
        run: 12,
        case: `${c.scenario}.${c.variant}`,
        reason: 'at once',
        expires: inDays(90),
      }),
    });
  /** @param {number} run */
  const base = (run) => write('baseline', { method: 'PUT', headers, body: JSON.stringify({ run }) });
  const runs = Array.from({ length: 12 }, (_, i) => i + 1);
  const answers = await Promise.all([
    ...failing.map(accept),
    ...runs.map(base),
    (async () => {
      for (const run of runs.slice(0, 4)) twinstack('baseline', 'set', String(run), '--db', db);
      return { status: 200 };
    })(),
  ]);
  same([...new Set(answers.map((answer) => answer.status))], [200], 'all were written');
  const { items } = await fetchData(server.base, '/api/v1/known', {}, headers);
  same(items.length, failing.length, 'no acceptance is lost');
  const { baseline } = await fetchData(server.base, '/api/v1/runs', { limit: 1 }, headers);
  check(baseline !== null && runs.includes(baseline), 'one of the baselines holds');
  twinstack('db', 'publish', '--db', db, scratch('after.db')); // reads the whole database
});

await runAll();
