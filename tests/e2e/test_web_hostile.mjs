// Sends many hostile requests and checks that the same process still answers afterwards.  The seed of the
// requests is fixed, so that a failure can be reproduced.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { check, must, root, runAll, same, scratch, seed, serve, slowness, test } from './web/world.mjs';

const REQUESTS = Number(process.env.TWINSTACK_HOSTILE_REQUESTS ?? 10000);
const AT_ONCE = 16;
const spec = JSON.parse(readFileSync(`${root}/dashboard/web/openapi.json`, 'utf8'));
const server = await serve(
  '--db',
  seed('hostile.db', 3, 12, 0),
  '--allow-write',
  '--known',
  scratch('known.txt'),
);
const { hostname, port } = new URL(server.base);
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
const timeout = 10e3 * slowness;

/**
 * Sends one request and returns its status, or 0 if the server closed the connection.
 * @typedef {import('node:http').OutgoingHttpHeaders} Headers
 * @type {(method: string, path: string, headers: Headers, body?: string | Buffer) => Promise<number>}
 */
const ask = (method, path, headers, body) =>
  new Promise((done) => {
    let asked;
    try {
      asked = request({ agent, hostname, port, path, method, headers, timeout }, (answer) => {
        answer.resume();
        answer.on('end', () => done(must(answer.statusCode))).on('error', () => done(0));
      });
    } catch {
      done(0); // even this client refuses to send it
      return;
    }
    asked.on('error', () => done(0)).on('timeout', () => asked.destroy());
    asked.end(body);
  });
const alive = () => {
  try {
    return process.kill(server.pid, 0);
  } catch {
    return false;
  }
};

/** @type {(open: string, close: string, levels: number) => string} */
const nested = (open, close, levels) => open.repeat(levels) + close.repeat(levels);
const deep = `{"a":${nested('[', ']', 900)}}`;
const writes = { 'Content-Type': 'application/json', 'X-Token': server.token };

test('deep_nesting_is_refused', async () => {
  /** @type {[string, string, string, number][]} */
  const rows = [
    ['POST', '/api/v1/resolve', deep, 200],
    ['PUT', '/api/v1/baseline', deep, 413],
    ['POST', '/api/v1/known', deep, 413],
    ['POST', '/api/v1/resolve', nested('{"a":[', ']}', 50000), 200],
    ['POST', '/api/v1/resolve', '['.repeat(1 << 20), 200],
  ];
  for (const [method, path, body, want] of rows)
    same(await ask(method, path, writes, body), want, `${method} ${path} of ${body.length} bytes`);
  check(alive(), 'the server ended');
});

test(`the_same_process_answers_after_${REQUESTS}_hostile_requests`, async () => {
  let state = 20260101;
  /** @param {number} n */
  const roll = (n) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >>> 8) % n;
  };
  /** @type {<T>(list: T[]) => T} */
  const pick = (list) => list[roll(list.length)];
  const words = [
    'latest',
    '1',
    '0',
    '18446744073709551616',
    '-1',
    'null_write.ob2',
    'a.b.c',
    '..',
    '%2e%2e',
    '%00',
    '%c0%af',
    '%f0%9f%92%a9',
    "'%20or%201=1--",
    'x'.repeat(5000),
    '%e2%80%ae',
    'null',
    '1e308',
    '{}',
  ];
  const names = [
    'limit',
    'after',
    'verdict',
    'cause',
    'run',
    'a',
    'b',
    'metric',
    'search',
    'frame',
    'repeat',
    'branch',
    'x',
  ];
  const values = [...words, 'PASS', 'exact', 'offset_ns'];
  const bodies = [
    deep,
    '',
    '{',
    '[]',
    'null',
    '{"run":1e999}',
    '{"run":-1}',
    '{"run":1,"case":"' + 'x'.repeat(60000) + '"}',
    'MDMP' + '\xff'.repeat(300),
    'TWSR' + '\0'.repeat(100),
    'a!0x10\n'.repeat(2000),
    nested('[', ']', 127),
    '"' + '\\'.repeat(999),
    '{"frames":[' + '{"module":"a","offset":"0x10"},'.repeat(2000) + '{}]}',
    '\ud800',
    '{"\\ud800":1}',
    '\0'.repeat(999),
  ];
  const addresses = Object.keys(spec.paths).filter((path) => path !== '/api/v1/events');
  const pages = ['/', '/runs', '/runs/{run}', '/cases/{a}/{b}', '/nope', '//', '/assets/{name}'];
  /** @type {Headers[]} */
  const headers = [
    {},
    writes,
    { Accept: 'text/html' },
    { 'Accept-Encoding': 'gzip;q=0,'.repeat(400) },
    { 'If-None-Match': 'W/"'.repeat(800) },
    { Host: 'evil.example' },
    { Origin: 'null' },
    { 'X-Token': 'f'.repeat(64) },
    { Range: 'bytes=0-1,'.repeat(200) },
    { ...writes, 'Content-Type': 'application/jsonp' },
    { Expect: '100-continue' },
  ];
  const one = () => {
    const path = pick([...addresses, ...pages]).replace(/\{\w+\}/g, () => pick(words));
    const query = Array.from({ length: roll(20) }, () => `${pick(names)}=${pick(values)}`).join('&');
    const method = pick(['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);
    const has = method === 'POST' || method === 'PUT';
    return ask(
      has && roll(2) ? pick(['POST', 'PUT']) : method,
      query ? `${path}?${query}` : path,
      pick(headers),
      has ? Buffer.from(pick(bodies), 'latin1') : undefined,
    );
  };
  /** @type {Record<number, number>} */
  const counts = {};
  let left = REQUESTS;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0 && alive()) {
        const status = await one();
        counts[status] = (counts[status] ?? 0) + 1;
      }
    }),
  );
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`     ${seconds} s, answers by status: ${JSON.stringify(counts)}`);
  check(alive(), `the server ended with ${left} requests to go`);
  check(!counts[500], `${counts[500]} answers are 500`);
  same(await ask('GET', '/healthz', {}), 200, 'it still answers');
  same(await server.stop(), 0, 'exit status');
});

await runAll();
