// Tests the API without a browser: the description against the routes in both directions, safety, ETags,
// live streams, the data of the offline page, and the speed of views on large databases.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Ajv,
  ask,
  check,
  failure,
  fetchData,
  inDays,
  must,
  root,
  runAll,
  same,
  scratch,
  seed,
  serve,
  slowness,
  soak,
  test,
  twinstack,
} from './web/world.mjs';
/** @import { CaseLine, Named, Share, Written, Wrong } from 'openapi' */

const db = seed('api.db', 12, 24, 0);
const server = await serve('--db', db);
/** @type {(path: string, headers?: Record<string, string>) => Promise<Response>} */
const get = (path, headers = {}) => fetch(server.base + path, { headers });
const spec = JSON.parse(readFileSync(`${root}/dashboard/web/openapi.json`, 'utf8'));

test('description_and_routes_are_the_same_list', async () => {
  const endpoints = await fetchData(server.base, '/api/v1/endpoints');
  const listed = endpoints.map((row) => `${row.method} ${row.path}`).sort();
  const described = Object.entries(spec.paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((m) => `${m.toUpperCase()} ${path}`))
    .sort();
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
  for (const [path, status] of /** @type {[string, number][]} */ ([
    ['/nope', 404],
    ['/api/v1/runs/99999', 404],
    ['/api/v1/runs/word', 404],
    ['/api/v1/runs?limit=x', 400],
    ['/api/v1/runs?limit=0', 400],
    ['/api/v1/runs/latest/cases/none', 404],
    ['/api/v1/trend', 400],
    ['/api/v1/runs?limit=5000', 400],
    ['/runs/', 404],
    ['/api/v1/runs?a=%', 422],
  ])) {
    const answer = await get(path);
    check(
      answer.status === status || (path.endsWith('/word') && answer.status === 400),
      `${path}: ${answer.status}`,
    );
    same(Object.keys((await answer.json()).error), ['key', 'message', 'hint', 'reason'], path);
  }
});

test('who_needs_a_token_says_so', async () => {
  const writing = await serve('--db', db, '--allow-write');
  for (const [path, methods] of Object.entries(spec.paths))
    for (const [method, operation] of Object.entries(methods)) {
      // Senders of reports have tokens of their own.
      if (method === 'get' || path === '/api/v1/reports') continue;
      const { status } = await fetch(writing.base + path, {
        method: method.toUpperCase(),
        headers: { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'none' },
      });
      const wanted = JSON.stringify(operation.security) === '[{"token":[]}]';
      same(status === 401, wanted, `${method} ${path}: ${status}`);
    }
  same(Object.keys(spec.components.securitySchemes), ['token', 'sender'], 'schemes');
  await writing.stop();
});

test('a_wrong_number_is_named', async () => {
  for (const [query, name] of [
    ['/api/v1/runs?limit=x', 'limit'],
    ['/api/v1/runs/1/cases?limit=1&after=99999999999999999999999', 'after'],
    ['/api/v1/timing?gb_month=-1', 'gb_month'],
  ]) {
    const answer = await get(query);
    /** @type {import('openapi').Error} */
    const { error } = await answer.json();
    same(
      [answer.status, error.message, error.hint],
      [400, 'a number in the query is none, or too large', name],
      query,
    );
  }
});

test('pages_by_key_cover_all_once', async () => {
  const seen = [];
  let after = 0;
  for (let i = 0; i < 20; i++) {
    const found = await fetchData(server.base, '/api/v1/runs', { limit: 5, ...(after ? { after } : {}) });
    same(found.total, 12, 'total');
    seen.push(...found.runs.map((run) => run.id));
    if (found.next === null) break;
    after = found.next;
  }
  same(seen, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 'runs');
});

test('unknown_filters_are_refused_with_the_allowed_words', async () => {
  for (const list of ['cases', 'queue'])
    for (const [query, allowed] of [
      ['verdict=MAYBE', 'XPASS'],
      ['kind=party', 'hang'],
      ['cause=bad_luck', 'causes'],
    ]) {
      const answer = await get(`/api/v1/runs/latest/${list}?${query}`);
      /** @type {import('openapi').Error} */
      const { error } = await answer.json();
      same(
        [answer.status, must(error.hint).includes(allowed)],
        [400, true],
        `${list}?${query}: ${error.hint}`,
      );
    }
  same((await get('/api/v1/runs/latest/queue?group=later')).status, 400, 'a group of the queue');
});

test('the_queue_is_sorted_whole_and_in_pages', async () => {
  /** @param {Record<string, string | number>} query */
  const page = (query) => fetchData(server.base, '/api/v1/runs/{run}/queue', { run: 12, ...query });
  const all = await page({ limit: 1000 });
  const order = [
    'failing',
    'error',
    'flaky',
    'unexpected_pass',
    'unexplained',
    'accepted',
    'reference',
    'rest',
  ];
  same(
    all.groups.map((g) => g.group),
    order,
    'groups',
  );
  const ranks = all.cases.map((c) => order.indexOf(c.group) * 2 + (c.is_new ? 0 : 1));
  same(
    ranks,
    [...ranks].sort((a, b) => a - b),
    'by group, what is new first',
  );
  same([all.total, all.next, all.previous, all.position], [24, null, null, 0], 'one page');
  const { cases } = await fetchData(server.base, '/api/v1/runs/{run}/cases', { run: 12, limit: 1000 });
  const failing = cases.filter((c) => ['FAIL', 'ERROR', 'XPASS', 'FLAKY'].includes(c.verdict));
  same(
    [all.wrong.total, all.wrong.groups.reduce((sum, g) => sum + g.cases, 0)],
    [failing.length, failing.length],
    'what is wrong',
  );
  same(
    all.cases.slice(0, failing.length).every((c) => c.trouble !== 'none'),
    true,
    'what fails comes first',
  );
  const seen = [];
  let last = await page({ limit: 5 });
  for (let turn = 0; turn < 10; turn++) {
    same(last.position, seen.length, 'cases before the page');
    seen.push(...last.cases.map((c) => c.id));
    if (last.next === null) break;
    last = await page({ limit: 5, after: last.next });
  }
  same(
    seen,
    all.cases.map((c) => c.id),
    'pages by key cover all once, in order',
  );
  const back = await page({ limit: 5, after: must(last.previous) });
  same(
    back.cases.map((c) => c.id),
    seen.slice(last.position - 5, last.position),
    'the page before',
  );
  const name = `${all.cases[13].scenario}.${all.cases[13].variant}`;
  const around = await page({ limit: 5, around: name });
  check(
    around.cases.some((c) => `${c.scenario}.${c.variant}` === name),
    'the page that holds a case',
  );
  const fresh = await page({ new: 1 });
  check(fresh.cases.every((c) => c.is_new) && fresh.total === all.wrong.new, 'only what is new');
});

test('figures_say_what_they_leave_out', async () => {
  /** @type {{data: {shares: Share[], wrong: Wrong, failing: {total: number, cases: Required<Named>[]}}}} */
  const { data } = await (await get('/api/v1/overview')).json();
  same(
    data.shares.map((s) => s.name),
    ['captured', 'offset:rtl', 'dump'],
    'figures',
  );
  for (const s of data.shares)
    check(s.right <= s.total && s.total + s.left_out <= 24 && s.of, JSON.stringify(s));
  same(data.wrong.total, data.failing.total, 'the same count of what is wrong');
  const first = data.failing.cases[0];
  const name = `${first.scenario}.${first.variant}`;
  const at = { run: 12, case: name, repeat: first.repeat };
  const one = await fetchData(server.base, '/api/v1/runs/{run}/cases/{case}', at);
  const oneEngine = 'the stack of (dump|offset:rtl) differs';
  const both = 'the stacks of offset:rtl and dump differ';
  const sentence = new RegExp(`^Wrong: (${oneEngine}|${both}) from what really ran in \\d`);
  check(sentence.test(one.sentence), one.sentence);
});

test('same_input_same_bytes_and_tags_save_them', async () => {
  for (const path of [
    '/api/v1/runs/latest',
    '/api/v1/runs/3/cases/inline_chain.ob2',
    '/',
    '/api/v1/openapi.json',
    '/metrics',
    '/badge/f1.svg',
  ]) {
    await (await get(path)).text(); // what must be made first comes in two parts, without a tag
    const first = await get(path);
    const tag = must(first.headers.get('etag'), `a tag of ${path}`);
    same((await get(path)).headers.get('etag'), tag, path);
    const again = await get(path, { 'If-None-Match': tag });
    same([again.status, await again.text()], [304, ''], path);
  }
});

test('large_answers_are_compressed_for_who_takes_it', async () => {
  /** @type {(encoding: Record<string, string>) => ReturnType<typeof ask>} */
  const take = (encoding) =>
    ask(server.base, '/api/v1/runs/12/cases?limit=1000', {
      headers: { Host: new URL(server.base).host, ...encoding },
    });
  const [plain, packed, refused] = await Promise.all([
    take({}),
    take({ 'Accept-Encoding': 'gzip, br' }),
    take({ 'Accept-Encoding': 'gzip;q=0' }),
  ]);
  same(
    [
      plain.headers['content-encoding'],
      refused.headers['content-encoding'],
      packed.headers['content-encoding'],
    ],
    [undefined, undefined, 'gzip'],
    'encodings',
  );
  check(
    Number(packed.headers['content-length']) * 5 < Number(plain.headers['content-length']),
    `${packed.headers['content-length']} of ${plain.headers['content-length']} bytes`,
  );
  same(
    [packed.headers.etag, packed.headers.vary, packed.headers['x-data-version']],
    [plain.headers.etag, 'Accept-Encoding', plain.headers['x-data-version']],
    'one document',
  );
  same((await (await get('/api/v1/runs/12/cases?limit=1000')).json()).data.total, 24, 'it unpacks');
});

test('a_row_is_explained_and_its_source_is_kept', async () => {
  const at = { run: 3, case: 'inline_chain.ob2' };
  const explain = '/api/v1/runs/{run}/cases/{case}/explain';
  const { engines } = await fetchData(server.base, explain, { ...at, frame: 3 });
  const dump = must(engines.find((e) => e.engine === 'dump'));
  const [frame, reached] = [must(dump.frame), must(dump.reached)];
  same([frame.kind, frame.found_by, reached.steps.length], ['return', 'unwind', 3], "the dump engine's row");
  same(
    Number(dump.lookup_offset) + 1,
    Number(frame.offset),
    'a return address is looked up one byte earlier',
  );
  same(
    reached.steps.map((s) => s.had_run),
    [true, true, false],
    'which codes had run',
  );
  check(must(engines.find((e) => e.engine === 'offset:rtl')).reached === null, 'no engine borrows evidence');
  same(
    (await get('/api/v1/runs/3/cases/inline_chain.ob2/explain?frame=999')).status,
    404,
    'a row that is not there',
  );
  const { artifacts } = await fetchData(server.base, '/api/v1/runs/{run}/cases/{case}', at);
  const answer = await get(`/api/v1/artifacts/${artifacts[0].sha256}`);
  const text = await answer.text();
  same(
    [answer.status, answer.headers.get('content-type'), Buffer.byteLength(text)],
    [200, 'text/plain; charset=utf-8', artifacts[0].bytes],
    'the source',
  );
  check(
    text.includes('</script>') && answer.headers.get('cache-control')?.includes('immutable'),
    'as it is, for ever',
  );
  for (const name of ['0'.repeat(64), '..%2f..%2fetc%2fpasswd', 'etc', artifacts[0].sha256.toUpperCase()])
    same((await get(`/api/v1/artifacts/${name}`)).status, 404, name);
});

test('badges_are_json_and_pictures', async () => {
  for (const metric of ['verdict', 'exact', 'f1', 'capture_rate', 'speed_ratio']) {
    const json = await (await get(`/badge/${metric}.json`)).json();
    const answer = await get(`/badge/${metric}.svg`);
    const svg = await answer.text();
    same([answer.status, answer.headers.get('content-type')], [200, 'image/svg+xml'], metric);
    check(
      svg.startsWith('<svg ') &&
        svg.includes(`aria-label="${json.label}: ${json.message}"`) &&
        !/script|on\w+=/.test(svg),
      svg,
    );
  }
  same((await get('/badge/exact.gif')).status, 404, 'another form');
  same((await get('/badge/mood.svg')).status, 400, 'another metric');
});

test('acceptances_are_written_to_the_file_and_taken_out', async () => {
  const file = scratch('known.txt');
  const kept = '# by hand\n[other]\nscope: x.*\ncause: dump=truncated\nreason: old\nexpires: 2030-01-01\n';
  writeFileSync(file, kept);
  const writing = await serve('--db', db, '--allow-write', '--known', file);
  /** @type {Record<string, string>} */
  const json = { 'Content-Type': 'application/json', 'X-Token': writing.token };
  /** @type {(body: unknown, headers?: Record<string, string>) => Promise<Response>} */
  const post = (body, headers = json) =>
    fetch(`${writing.base}/api/v1/known`, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  /** @type {(id: string, headers?: Record<string, string>) => Promise<Response>} */
  const drop = (id, headers = { 'X-Token': writing.token }) =>
    fetch(`${writing.base}/api/v1/known/${id}`, { method: 'DELETE', headers });
  /** @param {string} verdict */
  const firstOf = async (verdict) =>
    (await fetchData(server.base, '/api/v1/runs/{run}/cases', { run: 12, verdict, limit: 1 })).cases[0];
  const [failing, passing] = [await firstOf('FAIL'), await firstOf('PASS')];
  /** @type {(c: CaseLine) => string} */
  const name = (c) => `${c.scenario}.${c.variant}`;
  const good = { run: 12, case: name(failing), reason: 'known "well"', expires: inDays(90) };
  same((await post(good, { 'Content-Type': 'application/json' })).status, 401, 'no token');
  same((await post(good, { ...json, Origin: 'http://evil.example' })).status, 403, "another site's page");
  same((await post(good, { ...json, 'Content-Type': 'text/plain' })).status, 415, 'a form');
  same((await post('{')).status, 422, 'no JSON');
  same((await post({ ...good, reason: 'two\n[lines]' })).status, 400, 'a reason of two lines');
  same((await post({ ...good, expires: 'never' })).status, 422, 'no day');
  same((await post({ ...good, case: name(passing) })).status, 400, 'a case that passes');
  same((await post({ ...good, case: 'no_such.ob2' })).status, 404, 'no case');
  same(readFileSync(file, 'utf8'), kept, 'nothing was written');
  /** @type {{data: Written['/api/v1/known']}} */
  const { data } = await (await post(good)).json();
  same((await post(good)).status, 400, 'the same once more');
  same(readFileSync(file, 'utf8'), kept + data.added, 'one block more');
  check(
    data.added.includes(`expires: ${inDays(90)}`) && data.added.includes(`scope: ${name(failing)}`),
    data.added,
  );
  const { items } = await fetchData(writing.base, '/api/v1/known');
  same(
    items.map((k) => k.id),
    ['other', name(failing)],
    'seen at once',
  );
  same((await drop(encodeURIComponent(name(failing)), {})).status, 401, 'no token');
  same((await drop('nobody')).status, 404, 'no such id');
  same((await drop(encodeURIComponent(name(failing)))).status, 200, 'taken out');
  check(
    readFileSync(file, 'utf8').startsWith(kept.trimEnd()) && !readFileSync(file, 'utf8').includes('2031'),
    'the rest stays',
  );
  const bare = await serve('--db', db, '--allow-write');
  same(
    (
      await fetch(`${bare.base}/api/v1/known`, {
        method: 'POST',
        headers: { ...json, 'X-Token': bare.token },
        body: JSON.stringify(good),
      })
    ).status,
    400,
    'no file is named',
  );
  await bare.stop();
  await writing.stop();
});

test('a_newer_database_is_said_and_not_touched', async () => {
  const file = seed('newer.db', 1, 2, 0);
  const before = readFileSync(file);
  before.writeUInt32BE(99, 60); // user_version, in the header
  writeFileSync(file, before);
  const newer = await serve('--db', file);
  const answer = await fetch(`${newer.base}/api/v1/overview`);
  /** @type {import('openapi').Error} */
  const { error } = await answer.json();
  same([answer.status, error.key, error.reason], [422, 'unsupported', 'newer'], 'the answer');
  check(must(error.hint).includes('newer'), `${error.hint}`);
  check(readFileSync(file).equals(before), 'not a byte changed');
  await newer.stop();
});

test('a_published_database_is_served_from_a_folder_that_nobody_writes', async () => {
  const folder = scratch('published');
  mkdirSync(folder);
  twinstack('db', 'publish', '--db', db, join(folder, 'runs.db'));
  const before = readFileSync(join(folder, 'runs.db'));
  chmodSync(join(folder, 'runs.db'), 0o444);
  chmodSync(folder, 0o555);
  const published = await serve('--db', join(folder, 'runs.db'));
  for (const path of [
    'overview',
    'runs',
    'runs/12',
    'runs/12/cases',
    'runs/12/cases/inline_chain.ob2',
    'cases/inline_chain/ob2',
    'compare?a=1&b=12',
    'timing',
    'hooks',
    'runs/12/queue',
    'signatures',
    'known',
    'symbols',
  ]) {
    const [here, there] = await Promise.all(
      [published, server].map(
        async (from) => (await (await fetch(`${from.base}/api/v1/${path}`)).json()).data,
      ),
    );
    same(here, there, path);
  }
  await published.stop();
  chmodSync(folder, 0o755);
  same(readdirSync(folder), ['runs.db'], 'nothing beside it');
  check(readFileSync(join(folder, 'runs.db')).equals(before), 'not a byte changed');
});

test('streams_tell_changes_and_are_capped', async () => {
  const ends = [];
  const streams = [];
  for (let i = 0; i < 5; i++) {
    const stop = new AbortController();
    ends.push(stop);
    streams.push(await fetch(`${server.base}/api/v1/events`, { signal: stop.signal }));
  }
  same(
    streams.map((s) => s.status),
    [200, 200, 200, 200, 204],
    'four streams',
  );
  const reader = must(streams[0].body).getReader();
  let text = '';
  while (!/data: .*\n/.test(text)) text += Buffer.from(must((await reader.read()).value)).toString();
  const { version } = JSON.parse(must(/data: (.*)/.exec(text))[1]);
  same((await get('/api/v1/runs')).headers.get('x-data-version'), version, 'versions of event and answer');
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
  try {
    twinstack('report', '12', '--db', db, '--html', scratch('a.html'));
  } catch (error) {
    const { status, stderr } = failure(error);
    check(status === 1, String(stderr));
  }
  try {
    twinstack('report', '12', '--db', db, '--html', scratch('b.html'));
  } catch (error) {
    const { status, stderr } = failure(error);
    check(status === 1, String(stderr));
  }
  const page = readFileSync(scratch('a.html'), 'utf8');
  check(page === readFileSync(scratch('b.html'), 'utf8'), 'same run, same bytes');
  check(!/<(?:link|script|img)[^>]+(?:src|href)="(?!data:)/.test(page), 'nothing is fetched');
});

test('two_builds_of_the_pages_are_equal_and_small', () => {
  const web = `${root}/dashboard/web`;
  for (const name of ['one', 'two'])
    execFileSync(process.execPath, [
      `${web}/build.mjs`,
      '--source',
      web,
      '--modules',
      `${web}/node_modules`,
      '--out',
      scratch(name),
      '--version',
      '0.1.0',
    ]);
  for (const file of ['web_assets.c', 'sizes.txt'])
    check(
      readFileSync(`${scratch('one')}/${file}`).equals(readFileSync(`${scratch('two')}/${file}`)),
      `${file} differs`,
    );
  const total = Number(must(/total gzip (\d+)/.exec(readFileSync(`${scratch('one')}/sizes.txt`, 'utf8')))[1]);
  console.log(`     ${total} bytes gzip`);
  check(total > 10000 && total <= 120 * 1024, `${total} bytes gzip`);
  const found = spawnSync(
    'grep',
    ['-rlE', 'dangerouslySetInnerHTML|innerHTML|eval\\(|new Function', `${web}/src`],
    { encoding: 'utf8' },
  );
  same([found.status, found.stdout], [1, ''], 'sources that make markup or code of strings');
});

// In a soak 1,000 runs and 10,000 cases, 2,000 of them in one run.
test('views_of_large_databases_take_under_300_ms', async () => {
  const large = await serve('--db', soak ? seed('large.db', 1000, 8, 2000) : seed('large.db', 250, 8, 500));
  const runs = '/api/v1/runs/1';
  const slow = [];
  for (const path of [
    '/api/v1/overview',
    '/api/v1/runs?limit=50',
    runs,
    `${runs}/cases?limit=200`,
    `${runs}/queue`,
    '/api/v1/overview?run=1',
    `${runs}/cases?verdict=FAIL&limit=50`,
    `${runs}/cases?cause=inline_only`,
    `${runs}/cases?search=spin`,
    `${runs}/cases/null_write.ob2`,
    '/api/v1/cases/null_write/ob2',
    '/api/v1/compare?a=1&b=2',
    '/api/v1/trend?metric=dump_write_ns&limit=1000',
    '/api/v1/timing?run=1',
    '/api/v1/hooks?run=1',
    '/api/v1/signatures?run=1',
    '/api/v1/symbols?run=1',
    '/api/v1/known',
  ]) {
    let took = Infinity;
    let status = 0;
    for (let i = 0; i < 3; i++) {
      // The minimum leaves out other load on the machine.  Each address is new, so no answer is cached.
      const start = performance.now();
      const answer = await fetch(`${large.base}${path}${path.includes('?') ? '&' : '?'}${'&'.repeat(i)}`);
      await answer.text();
      ({ status } = answer);
      took = Math.min(took, performance.now() - start);
    }
    console.log(`     ${took.toFixed(0).padStart(5)} ms  ${path}`);
    same(status, 200, path);
    if (took > 300 * slowness) slow.push(`${path} ${took.toFixed(0)} ms`);
  }
  same(slow, [], 'slow views');
});

await runAll();
