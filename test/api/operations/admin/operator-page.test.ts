import { request } from 'node:http';
import test from 'ava';
import { PAGE_POLICY } from '../../../../api/page/page-policy.ts';
import { startApi } from '../../support.ts';

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';

test('O21: the page of the operator is open to browsers, carries no data, and allows nothing from elsewhere', async (t) => {
  const api = await startApi(t);
  const ask = (path: string, accept: string) =>
    fetch(`${api.adminUrl}${path}`, { headers: { accept } });
  const page = await ask('/', HTML);
  t.is(page.status, 200);
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.is(page.headers.get('cache-control'), 'no-store');
  t.is(page.headers.get('content-security-policy'), PAGE_POLICY);
  const html = await page.text();
  t.regex(html, /<title>Paperbook operator<\/title>/);
  t.false(html.includes(api.adminToken));
  t.notRegex(html, /<style|\sstyle=|\son\w+=|<script(?![^>]* src=")/);
  const [, script] = /src="(web\/operator\.\w+\.js)"/.exec(html)!;
  const part = await ask(`/${script}`, '*/*');
  t.is(part.status, 200);
  t.is(part.headers.get('content-type'), 'text/javascript; charset=utf-8');
  t.is(part.headers.get('content-security-policy'), PAGE_POLICY);
  t.is((await ask('/web/operator.js', '*/*')).status, 404);
});

test('O21: a program finds no page there, and no token opens nothing but the page', async (t) => {
  const api = await startApi(t);
  for (const accept of ['*/*', 'application/json']) {
    const answer = await fetch(api.adminUrl, { headers: { accept } });
    t.is(answer.status, 404, accept);
  }
  for (const path of ['/admin/feeds', '/admin/users', '/admin/problems', '/admin/trading']) {
    const answer = await fetch(api.adminUrl + path, { headers: { accept: HTML } });
    t.is(answer.status, 401, path);
    t.not(answer.headers.get('content-security-policy'), PAGE_POLICY);
  }
  const everyones = await fetch(new URL('/', api.baseUrl), { headers: { accept: HTML } });
  t.regex(await everyones.text(), /<title>Paperbook<\/title>/);
});

test('O2, O21: the page and its parts are refused by a foreign Host', async (t) => {
  const api = await startApi(t);
  const { port } = new URL(api.adminUrl);
  const statusFor = (path: string, host: string) =>
    new Promise<number>((resolve, reject) => {
      const options = { headers: { host, accept: HTML }, agent: false, setHost: false };
      request(api.adminUrl + path, options, (response) => {
        response.resume();
        resolve(response.statusCode!);
      })
        .on('error', reject)
        .end();
    });
  t.is(await statusFor('/', `localhost:${port}`), 200);
  for (const host of ['evil.example', `evil.example:${port}`, 'localhost', '']) {
    t.is(await statusFor('/', host), 403, host);
    t.is(await statusFor('/web/page.css', host), 403, host);
  }
});
