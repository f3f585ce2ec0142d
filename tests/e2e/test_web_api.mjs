// The API without a browser: the description held against the routes both ways, safety,
// tags, live streams, the offline page's data, and how fast views are on large databases
// (so it runs alone).
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { Ajv, check, root, runAll, same, scratch, seed, serve, test, twinstack } from './web/world.mjs';

const db = seed('api.db', 12, 24, 0);
const server = await serve('--db', db);
const get = (path, headers = {}) => fetch(server.base + path, { headers });
const spec = JSON.parse(readFileSync(`${root}/dashboard/web/openapi.json`, 'utf8'));

// fetch() does not let a caller set Host, so the raw client does.
const raw = (path, { method = 'GET', headers = {}, body } = {}) => new Promise((done, fail) => {
  const url = new URL(server.base);
  const asked = request({ host: url.hostname, port: url.port, path, method, headers }, (answer) => {
    let text = '';
    answer.on('data', (part) => { text += part; });
    answer.on('end', () => done({ status: answer.statusCode, headers: answer.headers, text }));
  });
  asked.on('error', fail);
  asked.end(body);
});

test('description_and_routes_are_the_same_list', async () => {
  const listed = (await (await get('/api/v1/endpoints')).json()).data.map((row) => `${row.method} ${row.path}`).sort();
  const described = Object.entries(spec.paths).flatMap(([path, methods]) => Object.keys(methods).map((m) => `${m.toUpperCase()} ${path}`)).sort();
  same(described, listed, 'paths');
  same(await (await get('/api/v1/openapi.json')).json(), spec, 'what is served');
});

test('live_answers_fit_the_description', async () => {
  const ajv = new (Ajv())({ strict: false });
  ajv.addSchema(spec, 'spec');
  for (const [path, methods] of Object.entries(spec.paths)) {
    const schema = methods.get?.responses['200'].content?.['application/json']?.schema;
    if (!schema || path.startsWith('/badge')) continue;
    let url = path;
    const query = [];
    for (const parameter of methods.get.parameters ?? []) {
      if (parameter.in === 'path') url = url.replace(`{${parameter.name}}`, parameter.example);
      else if (parameter.required) query.push(`${parameter.name}=${parameter.example}`);
    }
    const answer = await get(query.length ? `${url}?${query.join('&')}` : url);
    same(answer.status, 200, url);
    const fits = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"spec#/')));
    check(fits(await answer.json()), `${url}: ${JSON.stringify(fits.errors?.slice(0, 3))}`);
  }
});

test('errors_have_key_message_and_hint', async () => {
  for (const [path, status] of [['/nope', 404], ['/api/v1/runs/99999', 404], ['/api/v1/runs/word', 404], ['/api/v1/runs?limit=x', 400],
    ['/api/v1/runs/latest/cases/none', 404], ['/api/v1/trend', 400], ['/api/v1/runs?limit=5000', 400], ['/runs/', 404], ['/api/v1/runs?a=%', 422]]) {
    const answer = await get(path);
    check(answer.status === status || (path.endsWith('/word') && answer.status === 400), `${path}: ${answer.status}`);
    same(Object.keys((await answer.json()).error), ['key', 'message', 'hint'], path);
  }
});

test('pages_by_key_cover_all_once', async () => {
  const seen = [];
  let after = '';
  for (let i = 0; i < 20; i++) {
    const { data } = await (await get(`/api/v1/runs?limit=5${after}`)).json();
    same(data.total, 12, 'total');
    seen.push(...data.runs.map((run) => run.id));
    if (data.next === null) break;
    after = `&after=${data.next}`;
  }
  same(seen, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 'runs');
});

test('same_input_same_bytes_and_tags_save_them', async () => {
  for (const path of ['/api/v1/runs/latest', '/api/v1/runs/3/cases/inline_chain.ob2', '/', '/api/v1/openapi.json']) {
    const first = await get(path);
    const tag = first.headers.get('etag');
    check(tag, `${path} has a tag`);
    same((await get(path)).headers.get('etag'), tag, path);
    const again = await get(path, { 'If-None-Match': tag });
    same([again.status, await again.text()], [304, ''], path);
  }
});

test('every_answer_carries_the_policy', async () => {
  for (const path of ['/', '/api/v1/runs', '/nope', '/healthz']) {
    const { headers } = await get(path);
    const policy = headers.get('content-security-policy');
    check(policy?.startsWith("default-src 'none'") && !policy.includes('unsafe'), path);
    same([headers.get('x-content-type-options'), headers.get('referrer-policy'), headers.get('access-control-allow-origin')], ['nosniff', 'no-referrer', null], path);
  }
  const page = await (await get('/')).text();
  check(!/<script>|<style|style=|\son\w+=/.test(page), 'nothing inline');
  const asset = /src="(\/assets\/[^"]+)"/.exec(page)[1];
  check((await get(asset)).headers.get('cache-control').includes('immutable'), 'hashed assets stay');
  same((await get(asset.replace(/-[0-9a-f]{4}/, '-0000'))).status, 404, 'a stale hash');
});

test('foreign_names_methods_and_pages_are_refused', async () => {
  const port = new URL(server.base).port;
  same((await raw('/', { headers: { Host: 'evil.example' } })).status, 421, 'another name');
  same((await raw('/', { headers: { Host: `evil.example:${port}` } })).status, 421, 'another name, our port');
  same((await raw('/', { headers: { Host: `localhost:${port}` } })).status, 200, 'localhost');
  same((await raw('/api/v1/runs', { method: 'DELETE' })).status, 405, 'another method');
  same((await raw('/api/v1/baseline', { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: '{"run":1}' })).status, 403, 'a write');
  same((await raw('/api/v1/resolve', { method: 'POST', headers: { Origin: 'http://evil.example' }, body: 'a!0x1' })).status, 403, "another site's page");
  for (const path of ['/../etc/passwd', '/assets/..%2f..%2fetc%2fpasswd', '//etc/passwd', '/assets/', '/%2e%2e/'])
    check([400, 404].includes((await raw(path)).status), path);
  same((await raw('/', { method: 'HEAD' })).text, '', 'HEAD has no body');
});

test('writes_need_flag_token_and_type', async () => {
  const writing = await serve('--db', db, '--allow-write');
  const put = (headers, body = '{"run":3}') => fetch(`${writing.base}/api/v1/baseline`, { method: 'PUT', headers, body });
  same((await put({ 'Content-Type': 'application/json' })).status, 401, 'no token');
  same((await put({ 'Content-Type': 'application/json', 'X-Token': 'f'.repeat(64) })).status, 401, 'a wrong token');
  same((await put({ 'Content-Type': 'text/plain', 'X-Token': writing.token })).status, 415, 'a wrong type');
  same((await put({ 'Content-Type': 'application/json', 'X-Token': writing.token }, '{')).status, 422, 'no JSON');
  same((await put({ 'Content-Type': 'application/json', 'X-Token': writing.token })).status, 200, 'all right');
  same((await (await get('/api/v1/runs?limit=1')).json()).data.baseline, 3, 'seen by a reader at once');
  same(await writing.stop(), 0, 'exit status after Ctrl-C');
});

test('remote_addresses_need_a_flag_and_then_the_token', async () => {
  let said = '';
  try { twinstack('serve', '--listen', '0.0.0.0:0', '--db', db); } catch (error) { said = `${error.status} ${error.stderr}`; }
  check(said.startsWith('2 ') && said.includes('--allow-remote'), said);
  const open = await serve('--db', db, '--allow-remote');
  same((await fetch(`${open.base}/`)).status, 200, 'the page alone');
  same((await fetch(`${open.base}/api/v1/runs`)).status, 401, 'data');
  same((await fetch(`${open.base}/api/v1/runs`, { headers: { 'X-Token': open.token } })).status, 200, 'data with the token');
  await open.stop();
});

test('uploads_are_limited', async () => {
  same((await raw('/api/v1/resolve', { method: 'POST', headers: { 'Content-Length': 1 << 30 } }).catch(() => ({ status: 413 }))).status, 413, 'a large one');
  const bad = await fetch(`${server.base}/api/v1/resolve`, { method: 'POST', body: 'MDMP and then nothing', headers: { 'Content-Type': 'application/octet-stream' } });
  same(bad.status, 200, 'a broken dump is an answer');
  check((await bad.json()).data.errors.length === 1, 'with one error');
});

test('streams_tell_changes_and_are_capped', async () => {
  const ends = [];
  const streams = [];
  for (let i = 0; i < 5; i++) {
    const stop = new AbortController();
    ends.push(stop);
    streams.push(await fetch(`${server.base}/api/v1/events`, { signal: stop.signal }));
  }
  same(streams.map((s) => s.status), [200, 200, 200, 200, 204], 'four streams');
  const reader = streams[0].body.getReader();
  const { value } = await reader.read();
  let text = Buffer.from(value).toString();
  while (!text.includes('event: change')) text += Buffer.from((await reader.read()).value).toString();
  for (const stop of ends) stop.abort();
  for (let tries = 0; ; tries++) {
    const stop = new AbortController();
    const { status } = await fetch(`${server.base}/api/v1/events`, { signal: stop.signal });
    stop.abort();
    if (status === 200) break;
    check(tries < 40, 'streams of readers that left come free again');
    await new Promise((done) => setTimeout(done, 250));
  }
});

test('two_offline_pages_are_equal_and_closed', async () => {
  try { twinstack('report', '12', '--db', db, '--html', scratch('a.html')); } catch (error) { check(error.status === 1, String(error.stderr)); }
  try { twinstack('report', '12', '--db', db, '--html', scratch('b.html')); } catch (error) { check(error.status === 1, String(error.stderr)); }
  const page = readFileSync(scratch('a.html'), 'utf8');
  check(page === readFileSync(scratch('b.html'), 'utf8'), 'same run, same bytes');
  check(!/<(?:link|script|img)[^>]+(?:src|href)="(?!data:)/.test(page), 'nothing is fetched');
});

test('two_builds_of_the_pages_are_equal_and_small', () => {
  const web = `${root}/dashboard/web`;
  for (const name of ['one', 'two'])
    execFileSync(process.execPath, [`${web}/build.mjs`, '--source', web, '--modules', `${web}/node_modules`, '--out', scratch(name), '--version', '0.1.0']);
  for (const file of ['web_assets.c', 'sizes.txt'])
    check(readFileSync(`${scratch('one')}/${file}`).equals(readFileSync(`${scratch('two')}/${file}`)), `${file} differs`);
  const total = Number(/total gzip (\d+)/.exec(readFileSync(`${scratch('one')}/sizes.txt`, 'utf8'))[1]);
  console.log(`     ${total} bytes gzip`);
  check(total > 10000 && total <= 120 * 1024, `${total} bytes gzip`);
  const found = spawnSync('grep', ['-rlE', 'dangerouslySetInnerHTML|innerHTML|eval\\(|new Function', `${web}/src`], { encoding: 'utf8' });
  same([found.status, found.stdout], [1, ''], 'sources that make markup or code of strings');
});

// 1,000 runs and 10,000 cases, 2,000 of them in one run.
test('views_of_large_databases_take_under_300_ms', async () => {
  const large = await serve('--db', seed('large.db', 1000, 8, 2000));
  const runs = '/api/v1/runs/1';
  const slow = [];
  for (const path of ['/api/v1/overview', '/api/v1/runs?limit=50', runs, `${runs}/cases?limit=200`, `${runs}/cases?verdict=FAIL&limit=50`,
    `${runs}/cases?cause=inline_only`, `${runs}/cases?search=spin`, `${runs}/cases/null_write.ob2`, '/api/v1/cases/null_write/ob2', '/api/v1/compare?a=1&b=2',
    '/api/v1/timing?run=1', '/api/v1/doors?run=1', '/api/v1/signatures?run=1', '/api/v1/symbols?run=1', '/api/v1/known']) {
    const start = performance.now();
    const answer = await fetch(large.base + path);
    await answer.text();
    const took = performance.now() - start;
    console.log(`     ${took.toFixed(0).padStart(5)} ms  ${path}`);
    same(answer.status, 200, path);
    if (took > 300 * Number(process.env.TWINSTACK_TEST_SLOWNESS ?? 1)) slow.push(`${path} ${took.toFixed(0)} ms`);
  }
  same(slow, [], 'slow views');
});

await runAll();
