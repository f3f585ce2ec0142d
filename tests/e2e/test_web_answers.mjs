// What the API answers, in seconds and without a browser: the description against the routes in both
// directions, and every live answer against the description; errors, pages, filters, figures, and tags.
import { readFileSync } from 'node:fs';
import { Ajv, check, fetchData, must, root, runAll, same, seed, serve, test } from './web/world.mjs';
import { notDescribed } from './web/description.mjs';
/** @import { Named, Share, Wrong } from 'openapi' */

const db = seed('answers.db', 12, 24, 0);
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
    const document = await answer.json();
    check(fits(document), `${url}: ${JSON.stringify(fits.errors?.slice(0, 3))}`);
    if (path !== '/api/v1/openapi.json') same(notDescribed(spec, schema, document), [], url);
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
        [answer.status, must(error.hint).includes(allowed), error.message.endsWith('has this name')],
        [400, true, true],
        `${list}?${query}: ${error.message}, ${error.hint}`,
      );
    }
  for (const path of ['runs/latest/queue?group=later', 'runs/latest/queue?trouble=x', 'trend?metric=x']) {
    const answer = await get(`/api/v1/${path}`);
    const { message } = (await answer.json()).error;
    same([answer.status, /^no .* has this name$/.test(message)], [400, true], `${path}: ${message}`);
  }
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

await runAll();
