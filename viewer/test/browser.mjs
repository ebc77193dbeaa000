// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Shared by the tests in Chromium: a browser, scenes that become reports, claims.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const source = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const program = process.env.SALTUS_PROGRAM ?? join(source, 'build/saltus');
export const work = mkdtempSync(join(tmpdir(), 'saltus-viewer-'));
let failures = 0;

export function claim(holds, what) {
  if (holds) return;
  failures++;
  console.log(`FAILS: ${what}`);
}

export function finish() {
  console.log(failures === 0 ? 'all claims hold' : `${failures} claims fail`);
  process.exitCode = failures === 0 ? 0 : 1;
}

export function launch() {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-accelerated-2d-canvas', '--disable-gpu-rasterization'] });
}

/** A page, of a path or an address, that counts everything that goes wrong in it. */
export async function openPage(browser, path, size = { width: 1200, height: 720 }) {
  const page = await browser.newPage({ viewport: size, acceptDownloads: true });
  const address = path.includes('://') ? path : `file://${path}`;
  page.setDefaultTimeout(120000);
  page.wrong = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !/GPU stall due to ReadPixels/.test(message.text())) page.wrong.push(message.text());
  });
  page.on('pageerror', (error) => page.wrong.push(error.message));
  page.on('request', (request) => {
    if (!/^(file|blob|data):/.test(request.url()) && !request.url().startsWith(address)) page.wrong.push(`asks for ${request.url()}`);
  });
  await page.goto(address, { timeout: 120000 });
  await page.waitForSelector('.viewer canvas, [role=alert]');
  return page;
}

/** Runs a scene (a path, or its text) and makes its report and a table of its states. */
export function makeReport(scene, options = [], certified = false, shown = []) {
  const text = scene.includes('\n');
  const name = text ? `own-${Math.random().toString(36).slice(2)}` : basename(scene, '.yaml');
  const path = text ? join(work, `${name}.yaml`) : scene;
  if (text) writeFileSync(path, scene);
  else for (const file of readdirSync(dirname(path)).filter((one) => one.endsWith('.h5'))) copyFileSync(join(dirname(path), file), join(work, file)); // of flexible bodies
  const out = (extension) => join(work, `${name}.${extension}`);
  const quiet = { stdio: ['ignore', 'ignore', 'pipe'], maxBuffer: 1 << 28 };
  execFileSync(program, ['run', path, '-o', out('csv'), ...(certified ? ['--certify'] : []), ...options], quiet);
  execFileSync(program, ['report', out('csv'), ...(certified ? [] : ['--no-certificate']), ...shown, '-o', out('html')], quiet);
  return { name, html: out('html'), states: () => readTable(out('csv')) };
}

/** Columns of a recording as the program writes it: the reference of the page. */
function readTable(path) {
  const lines = readFileSync(path, 'utf8').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const names = lines[0].split(',').map((name) => name.replace(/ \[.*\]$/, ''));
  const rows = lines.slice(1).map((line) => line.split(',').map(Number));
  return { count: rows.length, column: (name) => (names.includes(name) ? rows.map((row) => row[names.indexOf(name)]) : undefined) };
}

export const wait = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
