// Tests what the server refuses: pages and names of other sites, writes without the token, and requests
// that are not HTTP or are too large.  Also checks the headers of each answer.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import {
  ask,
  check,
  failure,
  fetchData,
  inDays,
  must,
  runAll,
  same,
  scratch,
  seed,
  serve,
  slowness,
  test,
  twinstack,
} from './web/world.mjs';

const db = seed('refused.db', 12, 24, 0);
const server = await serve('--db', db);
/** @type {(path: string, headers?: Record<string, string>) => Promise<Response>} */
const get = (path, headers = {}) => fetch(server.base + path, { headers });
/** @type {(path: string, options?: import('./web/world.mjs').Asked) => ReturnType<typeof ask>} */
const raw = (path, options) => ask(server.base, path, options);

/** In KiB.
 * @type {(pid: number) => number} */
const peakMemory = (pid) =>
  Number(must(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')))[1]);

test('every_answer_carries_the_policy', async () => {
  for (const path of ['/', '/api/v1/runs', '/nope', '/healthz']) {
    const { headers } = await get(path);
    const policy = headers.get('content-security-policy');
    check(policy?.startsWith("default-src 'none'") && !policy.includes('unsafe'), path);
    same(
      [
        headers.get('x-content-type-options'),
        headers.get('referrer-policy'),
        headers.get('access-control-allow-origin'),
      ],
      ['nosniff', 'no-referrer', null],
      path,
    );
  }
  const page = await (await get('/')).text();
  check(!/<script>|<style|style=|\son\w+=/.test(page), 'nothing inline');
  const asset = must(/src="\.(\/assets\/[^"]+)"/.exec(page))[1];
  check((await get(asset)).headers.get('cache-control')?.includes('immutable'), 'hashed assets stay');
  same((await get(asset.replace(/-[0-9a-f]{4}/, '-0000'))).status, 404, 'a stale hash');
});

test('foreign_names_methods_and_pages_are_refused', async () => {
  const port = new URL(server.base).port;
  same((await raw('/', { headers: { Host: 'evil.example' } })).status, 421, 'another name');
  same((await raw('/', { headers: { Host: `evil.example:${port}` } })).status, 421, 'another name, our port');
  same((await raw('/', { headers: { Host: `localhost:${port}` } })).status, 200, 'localhost');
  same((await raw('/api/v1/runs', { method: 'DELETE' })).status, 405, 'another method');
  same(
    (
      await raw('/api/v1/baseline', {
        method: 'PUT',
        headers: { 'Content-Type': 'application/json' },
        body: '{"run":1}',
      })
    ).status,
    403,
    'a write',
  );
  same(
    (
      await raw('/api/v1/resolve', {
        method: 'POST',
        headers: { Origin: 'http://evil.example' },
        body: 'a!0x1',
      })
    ).status,
    403,
    "another site's page",
  );
  for (const path of [
    '/../etc/passwd',
    '/assets/..%2f..%2fetc%2fpasswd',
    '//etc/passwd',
    '/assets/',
    '/%2e%2e/',
  ])
    check([400, 404].includes((await raw(path)).status), path);
  same((await raw('/', { method: 'HEAD' })).text, '', 'HEAD has no body');
});

// Name, bytes to send, expected answer.
/** @type {(host: string) => [string, string, RegExp][]} */
const oddRequests = (host) => [
  ['huge header', `GET / HTTP/1.1\r\n${host}\r\nX: ${'a'.repeat(40000)}\r\n\r\n`, /^(HTTP\/1\.[01] 4\d\d|$)/],
  [
    'our name behind 400 headers',
    `GET / HTTP/1.1\r\n${'X: y\r\n'.repeat(400)}${host}\r\n\r\n`,
    /^(HTTP\/1\.[01] 4\d\d|$)/,
  ],
  ['two hosts', `GET / HTTP/1.1\r\n${host}\r\nHost: evil.example\r\n\r\n`, /^HTTP\/1\.1 400[^]*two_hosts/],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 421/],
  [
    'absolute form, another name',
    `GET http://evil.example/ HTTP/1.1\r\n${host}\r\n\r\n`,
    /^(HTTP\/1\.[01] 4\d\d|$)/,
  ],
  ['a NUL', `GET /\0 HTTP/1.1\r\n${host}\r\n\r\n`, /^(HTTP\/1\.[01] 4\d\d|$)/],
  ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01', /^(HTTP\/1\.[01] 4\d\d|$)/],
  [
    'OPTIONS',
    `OPTIONS / HTTP/1.1\r\n${host}\r\nOrigin: http://evil.example\r\n` +
      'Access-Control-Request-Method: PUT\r\n\r\n',
    /^HTTP\/1\.1 40[35]/,
  ],
  ['TRACE', `TRACE / HTTP/1.1\r\n${host}\r\n\r\n`, /^(HTTP\/1\.[01] 4\d\d|$)/],
  [
    'a range is not taken up',
    `GET /api/v1/openapi.json HTTP/1.1\r\n${host}\r\nRange: bytes=0-9\r\nConnection: close\r\n\r\n`,
    /^HTTP\/1\.1 200[^]*Accept-Ranges: none/,
  ],
  [
    'a body that never comes',
    `POST /api/v1/resolve HTTP/1.1\r\n${host}\r\nContent-Length: 100\r\n\r\nabc`,
    /^$/,
  ],
  [
    'two lengths',
    `POST /api/v1/resolve HTTP/1.1\r\n${host}\r\nContent-Length: 3\r\nContent-Length: 300\r\n\r\na!0`,
    /^HTTP\/1\.1 400[^]*bad_length/,
  ],
  [
    'a length and more',
    `POST /api/v1/resolve HTTP/1.1\r\n${host}\r\nContent-Length: 6x\r\n\r\na!0x10`,
    /^HTTP\/1\.1 400[^]*bad_length/,
  ],
  [
    'pieces',
    `POST /api/v1/resolve HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n` +
      'Content-Length: 6\r\n\r\n6\r\na!0x10\r\n0\r\n\r\n',
    /^HTTP\/1\.1 411[^]*Connection: close/,
  ],
  [
    'one who asks first',
    `POST /api/v1/resolve HTTP/1.1\r\n${host}\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n`,
    /^HTTP\/1\.1 100 Continue\r\n\r\n$/,
  ],
  ['the head of a stream', `HEAD /api/v1/events HTTP/1.1\r\n${host}\r\n\r\n`, /^HTTP\/1\.1 200[^]*\r\n\r\n$/],
  ['no length', `POST /api/v1/resolve HTTP/1.1\r\n${host}\r\n\r\n`, /^HTTP\/1\.1 411/],
  [
    'a negative length',
    `POST /api/v1/resolve HTTP/1.1\r\n${host}\r\nContent-Length: -5\r\n\r\n`,
    /^HTTP\/1\.[01] 4\d\d/,
  ],
];

test('odd_requests_get_an_answer_or_a_closed_connection', async () => {
  const { hostname, port } = new URL(server.base);
  /** @type {(text: string, want: RegExp) => Promise<string>} */
  const say = (text, want) =>
    new Promise((done) => {
      const socket = connect(Number(port), hostname);
      let got = '';
      const end = () => {
        socket.destroy();
        done(got);
      };
      // What keeps its connection says no more; who wants an answer waits for it.
      socket.setTimeout(want.test('') ? 4000 : 30e3 * slowness, end);
      socket.on('data', (part) => {
        got += part.toString('latin1');
        if (want.test(got)) socket.setTimeout(1000);
      });
      socket.on('close', () => done(got));
      socket.on('error', () => done(got));
      socket.write(text, 'latin1');
    });
  const host = `Host: ${hostname}:${port}`;
  const rows = oddRequests(host);
  const answers = await Promise.all(rows.map(([, text, want]) => say(text, want)));
  rows.forEach(([what, , want], i) => check(want.test(answers[i]), `${what}: ${answers[i].slice(0, 200)}`));
  check(!answers.some((text) => /access-control-allow/i.test(text)), 'no other site is allowed');
  let random = 1;
  /** @param {number} n */
  const roll = (n) => {
    random = (random * 1103515245 + 12345) & 0x7fffffff;
    return random % n;
  };
  const pieces = [
    'GET ',
    'PUT ',
    '/',
    '/api/v1/',
    'runs',
    '%',
    '%2f',
    '..',
    '?',
    '&',
    '=',
    '#',
    ' HTTP/1.1',
    '\r\n',
    host,
    ': ',
    '\0',
    '\xff',
    'Content-Length: 9',
    '{',
    'cases/',
    '\t',
    '+',
    '%00',
    '%c0%af',
    '//',
  ];
  for (let i = 0; i < 300; i += 30)
    await Promise.all(
      Array.from(
        { length: 30 },
        () =>
          new Promise((done) => {
            const socket = connect(Number(port), hostname);
            socket.on('error', done).on('close', done);
            socket.on('data', () => {});
            socket.end(
              Array.from({ length: 1 + roll(24) }, () => pieces[roll(pieces.length)]).join(''),
              'latin1',
            );
            setTimeout(() => done(socket.destroy()), 300);
          }),
      ),
    );
  same((await get('/healthz')).status, 200, 'it still answers');
});

test('writes_need_flag_token_and_type', async () => {
  const writing = await serve('--db', db, '--allow-write');
  /** @type {(headers: Record<string, string>, body?: string) => Promise<Response>} */
  const put = (headers, body = '{"run":3}') =>
    fetch(`${writing.base}/api/v1/baseline`, { method: 'PUT', headers, body });
  same((await put({ 'Content-Type': 'application/json' })).status, 401, 'no token');
  same(
    (await put({ 'Content-Type': 'application/json', 'X-Token': 'f'.repeat(64) })).status,
    401,
    'a wrong token',
  );
  for (const type of ['text/plain', 'application/jsonp', 'application/json5'])
    same((await put({ 'Content-Type': type, 'X-Token': writing.token })).status, 415, type);
  same(
    (await put({ 'Content-Type': 'application/json; charset=utf-8', 'X-Token': writing.token })).status,
    200,
    'with a parameter',
  );
  same(
    (await put({ 'Content-Type': 'application/json', 'X-Token': writing.token }, '{')).status,
    422,
    'no JSON',
  );
  same(
    (await put({ 'Content-Type': 'application/json', 'X-Token': writing.token })).status,
    200,
    'all right',
  );
  same((await fetchData(server.base, '/api/v1/runs', { limit: 1 })).baseline, 3, 'seen by a reader at once');
  same(await writing.stop(), 0, 'exit status after Ctrl-C');
});

test('remote_addresses_need_a_flag_and_then_the_token', async () => {
  let said = '';
  try {
    twinstack('serve', '--listen', '0.0.0.0:0', '--db', db);
  } catch (error) {
    const { status, stderr } = failure(error);
    said = `${status} ${stderr}`;
  }
  check(said.startsWith('2 ') && said.includes('--allow-remote'), said);
  const open = await serve('--db', db, '--allow-remote');
  same((await fetch(`${open.base}/`)).status, 200, 'the page alone');
  same((await fetch(`${open.base}/api/v1/runs`)).status, 401, 'data');
  same(
    (await fetch(`${open.base}/api/v1/runs`, { headers: { 'X-Token': open.token } })).status,
    200,
    'data with the token',
  );
  await open.stop();
});

test('uploads_are_limited', async () => {
  same(
    (
      await raw('/api/v1/resolve', { method: 'POST', headers: { 'Content-Length': 1 << 30 } }).catch(() => ({
        status: 413,
      }))
    ).status,
    413,
    'a large one',
  );
  const bad = await fetch(`${server.base}/api/v1/resolve`, {
    method: 'POST',
    body: 'MDMP and then nothing',
    headers: { 'Content-Type': 'application/octet-stream' },
  });
  same(bad.status, 200, 'a broken dump is an answer');
  check((await bad.json()).data.errors.length === 1, 'with one error');
});

// RFC 9110, 8.4.1; the limits are those of plain bodies.
test('packed_bodies_are_read_up_to_the_limit_of_plain_ones', async () => {
  const writing = await serve('--db', db, '--allow-write');
  /** @type {(path: string, encoding: string, body: string | Buffer, type?: string) =>
   *   Promise<[number, any]>} */
  const post = async (path, encoding, body, type = 'application/octet-stream') => {
    const answer = await fetch(writing.base + path, {
      method: path.endsWith('baseline') ? 'PUT' : 'POST',
      headers: { 'Content-Type': type, 'Content-Encoding': encoding, 'X-Token': writing.token },
      body: new Uint8Array(Buffer.from(body)),
    });
    const { data, error } = await answer.json();
    return [answer.status, data ?? error.key];
  };
  const stack = 'app.exe!0x1537\nkernel32.dll!0x17034\n'.repeat(50);
  const [, plain] = await post('/api/v1/resolve', 'identity', stack);
  const packed = gzipSync(stack);
  const names = `--b\r\nContent-Disposition: form-data; name="s"; filename="s"\r\n\r\n${stack}\r\n--b--\r\n`;
  for (const [what, encoding, body, type] of /** @type {[string, string, Buffer, string?][]} */ ([
    ['gzip', 'gzip', packed],
    ['its old name', 'X-Gzip', packed],
    ['deflate', 'deflate', deflateSync(stack)],
    ['a form', 'gzip', gzipSync(names), 'multipart/form-data; boundary=b'],
  ]))
    same(await post('/api/v1/resolve', encoding, body, type), [200, plain], what);
  for (const [
    what,
    encoding,
    body,
    status,
    key,
  ] of /** @type {[string, string, Buffer, number, string][]} */ ([
    ['cut', 'gzip', packed.subarray(0, -9), 400, 'packing'],
    ['nothing', 'gzip', Buffer.alloc(0), 400, 'packing'],
    ['no gzip', 'gzip', Buffer.from(stack), 400, 'packing'],
    ['more than one', 'deflate', Buffer.concat([deflateSync(stack), packed]), 400, 'packing'],
    ['another packing', 'br', packed, 415, 'encoding'],
    ['two of them', 'gzip, gzip', gzipSync(packed), 415, 'encoding'],
    ['64 MiB and a byte', 'gzip', gzipSync(Buffer.alloc((64 << 20) + 1)), 413, 'too_large'],
  ]))
    same(await post('/api/v1/resolve', encoding, body), [status, key], what);
  const json = 'application/json';
  same((await post('/api/v1/baseline', 'gzip', gzipSync('{"run":3}'), json))[0], 200, 'a write');
  const long = gzipSync(`{"run":3}${' '.repeat(64 << 10)}`);
  same(await post('/api/v1/baseline', 'gzip', long, json), [413, 'too_large'], 'a long write');
  // 10 GB would be a minute of work.
  const bomb = gzipSync(Buffer.alloc(1 << 20));
  const before = peakMemory(writing.pid);
  const many = Buffer.concat(Array.from({ length: 10000 }, () => bomb));
  same(await post('/api/v1/resolve', 'gzip', many.subarray(0, 63 << 20)), [413, 'too_large'], 'a bomb');
  check(peakMemory(writing.pid) - before < 80 << 10, 'the memory of a bomb is that of its packed bytes');
  same(await writing.stop(), 0, 'exit status after Ctrl-C');
});

test('names_in_a_query_that_nothing_reads_are_refused', async () => {
  for (const [path, allowed] of [
    ['runs/latest/cases?verdct=FAIL', 'verdict'],
    ['runs/latest/queue?trouble=mood', 'no_dump'],
    ['runs?branche=main', 'branch'],
    ['runs/latest?limit=5', 'takes no query'],
    ['compare?a=1&b=2&c=3', 'a, b'],
  ]) {
    const answer = await get(`/api/v1/${path}`);
    /** @type {import('openapi').Error} */
    const { error } = await answer.json();
    same([answer.status, must(error.hint).includes(allowed)], [400, true], `${path}: ${error.hint}`);
  }
  same((await get('/api/v1/compare?a=1&a=2')).status, 400, 'the same name twice');
  same((await get('/api/v1/runs?&branch=main&&limit=5&')).status, 200, 'empty places');
});

test('errors_are_problem_documents_for_clients_that_accept_them', async () => {
  const accept = { Accept: 'application/problem+json, application/json' };
  for (const [path, status, title] of /** @type {[string, number, string][]} */ ([
    ['/api/v1/runs/99999', 404, 'Not Found'],
    ['/api/v1/runs?limit=x', 400, 'Bad Request'],
    ['/nope', 404, 'Not Found'],
  ])) {
    const answer = await get(path, accept);
    /** @type {import('openapi').Problem} */
    const problem = await answer.json();
    same([answer.status, answer.headers.get('content-type')], [status, 'application/problem+json'], path);
    same(Object.keys(problem), ['type', 'title', 'status', 'detail', 'key', 'hint', 'reason'], path);
    same([problem.type, problem.title, problem.status], ['about:blank', title, status], path);
    same(problem.detail, (await (await get(path)).json()).error.message, 'the same message');
  }
  for (const other of ['application/json', '*/*', 'application/problem+json;q=0'])
    same((await get('/nope', { Accept: other })).headers.get('content-type'), 'application/json', other);
});

// A full disk: as root a real one of 4 MB, otherwise a limit on the size of files.
test('a_full_disk_is_said_and_loses_nothing', async () => {
  const disk = scratch('disk');
  mkdirSync(disk);
  const mounted =
    !process.env.TWINSTACK_TEST_NO_MOUNT &&
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'twinstack', disk]).status === 0;
  try {
    const file = join(disk, 'runs.db');
    const knownFile = join(disk, 'known.txt');
    copyFileSync(seed('small.db', 2, 24, 0), file);
    const accepted = `# ${'accepted '.repeat(7276)}\n`; // nearly as long as the limit allows
    writeFileSync(knownFile, accepted);
    const words = ['--db', file, '--allow-write', '--known', knownFile];
    const full = mounted
      ? await serve(...words, { TMPDIR: disk })
      : await serve(...words, { TMPDIR: disk }, ['prlimit', '--fsize=65536']);
    same((await fetch(`${full.base}/api/v1/runs`)).status, 200, 'while there is room');
    if (mounted)
      try {
        for (let i = 0; ; i++) writeFileSync(join(disk, `fill-${i}`), Buffer.alloc(i < 900 ? 4096 : 1));
      } catch (error) {
        same(failure(error).code, 'ENOSPC', 'the disk is full');
      }
    /** @type {(method: string, path: string, body: string, type?: string) =>
     *   Promise<[number, string | null, number, string | null, string]>} */
    const post = async (method, path, body, type = 'application/json') => {
      const answer = await fetch(full.base + path, {
        method,
        body,
        headers: { 'Content-Type': type, 'X-Token': full.token, Accept: 'application/problem+json' },
      });
      /** @type {import('openapi').Problem} */
      const { status, reason, detail } = await answer.json();
      return [answer.status, answer.headers.get('Content-Type'), status, reason ?? null, detail];
    };
    /** @type {(what: string, reason: string | null, answered: unknown[]) => void} */
    const problem = (what, reason, [...answered]) => {
      const detail = answered.pop();
      same(answered, [507, 'application/problem+json', 507, reason], `${what}: ${detail}`);
    };
    const { cases } = await fetchData(full.base, '/api/v1/runs/{run}/queue', { run: 2, limit: 1 });
    const acceptance = {
      run: 2,
      case: `${cases[0].scenario}.${cases[0].variant}`,
      reason: 'there is no room',
      expires: inDays(90),
    };
    problem('an acceptance', 'full', await post('POST', '/api/v1/known', JSON.stringify(acceptance)));
    // SQLite may still have room in its existing log.  A write that it reports must really be stored.
    // The seed's baseline is run 1.
    for (let run = 2, written = 200; mounted && written === 200; run = 3 - run) {
      const answered = await post('PUT', '/api/v1/baseline', JSON.stringify({ run }));
      [written] = answered;
      const { baseline } = await fetchData(full.base, '/api/v1/runs');
      same(baseline === run, written === 200, `the baseline after ${written}`);
      if (written !== 200) problem('a baseline', 'full', answered);
    }
    const dump = `MDMP${'x'.repeat(1 << 20)}`;
    problem('an upload', null, await post('POST', '/api/v1/resolve', dump, 'application/octet-stream'));
    same(readFileSync(knownFile, 'utf8'), accepted, 'the file of acceptances is as it was');
    same((await fetch(`${full.base}/api/v1/runs`)).status, 200, 'pages are still there');
    if (mounted) {
      for (const name of readdirSync(disk)) if (name.startsWith('fill-')) rmSync(join(disk, name));
      same((await post('PUT', '/api/v1/baseline', '{"run":1}'))[0], 200, 'with room again, a baseline');
    }
    await full.stop();
  } finally {
    if (mounted) execFileSync('umount', ['-l', disk]);
  }
});

test('a_disk_that_takes_nothing_is_the_servers_fault', async () => {
  const old = process.env.TMPDIR;
  process.env.TMPDIR = '/nowhere';
  const full = await serve('--db', db);
  if (old === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = old;
  /** @param {string} body */
  const post = (body) =>
    fetch(`${full.base}/api/v1/resolve`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/octet-stream' },
    });
  const answer = await post('MDMP and then nothing');
  /** @type {import('openapi').Error} */
  const { error } = await answer.json();
  same([answer.status, error.key, must(error.hint).includes('TMPDIR')], [507, 'io', true], error.message);
  await full.stop();
});

await runAll();
