// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// node test/playground.mjs: claims about build/playground/playground.html in Chromium; with the word `certificates`: all
// certificates of the gallery beside those of the program. Times are printed; the limits asserted are ten
// times wider than on a machine that does nothing else.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { fits, judge, openForAxe, tabReachesAll } from './access.mjs';
import { claim, finish, launch, program, source, work } from './browser.mjs';

const path = join(source, 'build/playground/playground.html');
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
async function until(page, what, ask, most = 120000) {
  const start = Date.now();
  while (!(await page.evaluate(ask))) {
    if (Date.now() - start > most) throw new Error(`never ${what}`);
    await pause(20);
  }
  return (Date.now() - start) / 1000;
}
async function open(browser, hash = '') {
  const page = await browser.newPage({ viewport: { width: 1300, height: 700 } });
  page.setDefaultTimeout(120000);
  page.wrong = [];
  page.on('console', (message) => {
    if (message.type() === 'error') page.wrong.push(message.text());
  });
  page.on('pageerror', (error) => page.wrong.push(error.message));
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const start = Date.now();
  await page.goto(`file://${path}${hash}`, { timeout: 120000 });
  if (hash === '') {
    await until(page, 'moving', () => window.saltusPlayground?.viewer?.clock.playing === true && window.saltusPlayground.viewer.clock.time > 0);
    page.moved = (Date.now() - start) / 1000;
    const { metrics } = await session.send('Performance.getMetrics');
    page.computed = metrics.find((one) => one.name === 'ProcessTime').value;
  }
  await until(page, 'ready', () => window.saltusPlayground?.ready === true);
  page.opened = (Date.now() - start) / 1000;
  return page;
}
const run = async (page) => {
  const start = Date.now();
  await page.evaluate(() => window.saltusPlayground.run());
  await until(page, 'done', () => !window.saltusPlayground.running);
  return (Date.now() - start) / 1000;
};

function native(scene, tol) {
  const out = join(work, 'native.csv');
  execFileSync(program, ['run', join(source, 'scenes', `${scene}.yaml`), '--tol', String(tol), '-o', out], { stdio: 'ignore' });
  const rows = readFileSync(out, 'utf8').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const events = readFileSync(out.replace('.csv', '.events.csv'), 'utf8').split('\n').filter((line) => line !== '' && !line.startsWith('#')).slice(1);
  return { last: rows.at(-1).split(',').map(Number), events: events.map((line) => ({ t: Number(line.split(',')[0]), kind: line.split(',')[1] })) };
}

async function equalsNative(page, scene, tol) {
  await page.evaluate(([name, value]) => {
    const { saltusPlayground } = window;
    saltusPlayground.open(name);
    document.querySelector('input[name=tol]').value = String(value);
  }, [scene, tol]);
  const seconds = await run(page);
  const made = await page.evaluate(() => {
    const { run: got } = window.saltusPlayground.viewer;
    const nq = got.head.q.length;
    const t = Array.from(got.need('event_t'));
    return { q: Array.from(got.need('q').slice(-nq)), events: t.map((at, i) => ({ t: at, kind: got.eventKind(i) })), worker: window.saltusPlayground.lastSeconds };
  });
  const expected = native(scene, tol);
  console.log(`-- ${scene} to ${tol}: ${seconds.toFixed(2)} s to the picture, ${made.worker.toFixed(2)} s of it in the worker`);
  made.q.forEach((q, i) => {
    const off = Math.abs(q - expected.last[i + 1]) / (1 + Math.abs(q));
    claim(off <= 10 * tol, `${scene}: coordinate ${i} is off by ${off}`);
  });
  claim(made.events.length === expected.events.length, `${scene}: ${made.events.length} events, natively ${expected.events.length}`);
  made.events.forEach((event, i) => {
    const other = expected.events[i];
    claim(other !== undefined && event.kind === other.kind && Math.abs(event.t - other.t) <= 1e-5, `${scene}: event ${i} is ${event.kind} at ${event.t}, natively ${other?.kind} at ${other?.t}`);
  });
  return seconds;
}

/** Scenes whose recording passes its certificate in the program pass it in the playground, and conversely. */
async function certificatesAgree(browser) {
  const page = await open(browser);
  const out = join(work, 'certified.csv');
  const names = await page.evaluate(() => [...document.querySelectorAll('select[aria-label=Gallery] option')].map((one) => one.value));
  let [passed, compared] = [0, 0];
  for (const name of names) {
    let native;
    try {
      execFileSync(program, ['run', join(source, 'scenes', `${name}.yaml`), '--certify', '--force', '-o', out], { stdio: 'ignore', timeout: 60000 });
      execFileSync(program, ['verify', out], { stdio: 'ignore', timeout: 120000 });
      native = true;
    } catch (error) {
      if (error.code === 'ETIMEDOUT') {
        console.log(`-- ${name} takes more than a minute and is not compared`);
        continue;
      }
      native = false;
    }
    await page.evaluate((scene) => window.saltusPlayground.open(scene), name);
    await run(page);
    const made = await page.evaluate(() => ({ certificate: window.saltusPlayground.viewer?.run.head.certificate, message: document.querySelector('.message').textContent }));
    const failing = made.certificate?.items.filter((item) => !item.passed).map((item) => item.name).join();
    compared++;
    if (made.certificate?.passed === true) passed++;
    // runs with many fixed steps are recorded without every step
    claim(!native || made.certificate === undefined || made.certificate.passed, `${name} passes in the program, here ${failing} fails: ${made.message}`);
    if (native && made.certificate === undefined) console.log(`-- ${name} is not certified here`);
  }
  console.log(`-- ${passed} of ${compared} scenes pass their certificate`);
  claim(passed > 50, `${passed} scenes pass their certificate`);
  await page.close();
}

/** axe finds nothing and Tab reaches everything, at the widths of a telephone and of a screen. */
async function isAccessible(browser) {
  for (const width of [390, 1400]) {
    const page = await openForAxe(browser, path, '.viewer canvas', width);
    await until(page, 'the first run', () => window.saltusPlayground.runs === 1 && !window.saltusPlayground.running);
    await judge(page, `playground, ${width} px`);
    await fits(page, `playground, ${width} px`);
    const stage = await page.locator('.stage canvas').boundingBox();
    const gallery = await page.getByLabel('Gallery').boundingBox();
    claim(stage.y + stage.height <= page.viewportSize().height, `${width} px: the picture ends at ${stage.y + stage.height} px`);
    claim(gallery.x + gallery.width <= (width > 1000 ? stage.x : width), `${width} px: the gallery ends at ${gallery.x + gallery.width} px`);
    await page.evaluate(() => window.saltusPlayground.viewer.clock.play(false));
    await tabReachesAll(page, `playground, ${width} px`);
    await page.context().close();
  }
}

const browser = await launch();
try {
  if (process.argv[2] === 'certificates') {
    await certificatesAgree(browser);
    throw 'done';
  }
  await isAccessible(browser);
  const size = statSync(path).size;
  const packed = gzipSync(readFileSync(path)).length;
  console.log(`-- page ${(size / 1e6).toFixed(2)} MB, compressed ${(packed / 1e6).toFixed(2)} MB`);
  claim(size < 4e6 && packed < 1e6, 'the page is below 4 MB, 1 MB compressed');
  const page = await open(browser);
  console.log(`-- ready after ${page.opened.toFixed(2)} s`);
  claim(page.opened < 20, 'it is ready soon');
  console.log(`-- the first picture moves after ${page.moved.toFixed(2)} s, ${page.computed.toFixed(2)} s of them computing time of the page`);
  claim(page.moved < 10 && page.computed < 1, 'the first picture moves within a second of computing time');
  await until(page, 'the first run', () => window.saltusPlayground.runs === 1 && !window.saltusPlayground.running);
  claim(await page.evaluate(() => window.saltusPlayground.viewer.run.head.certificate?.passed === true), 'and its certificate holds');
  claim((await equalsNative(page, 'woodpecker', 1e-8)) < 10, 'the woodpecker runs in a moment');
  await equalsNative(page, 'double-pendulum-rough', 1e-6);
  await equalsNative(page, 'machine-breaker-arm', 1e-8);

  await page.evaluate(() => window.saltusPlayground.open('ball'));
  await page.locator('.editor textarea').fill(readFileSync(join(source, 'scenes/ball.yaml'), 'utf8').replace('gap: q', 'gap: hight'));
  await run(page);
  const marked = await page.evaluate(() => {
    const { editor } = window.saltusPlayground;
    return { text: editor.text.slice(editor.marked, editor.marked + 5), shown: document.querySelector('.editor .mark')?.textContent, message: document.querySelector('.message').textContent };
  });
  claim(marked.text === 'hight' && marked.shown === 'h' && /unknown name "hight"/.test(marked.message), `an error is marked at its character: ${JSON.stringify(marked)}`);

  await page.evaluate(() => {
    window.saltusPlayground.open('ball');
    document.querySelector('input[name=step]').value = '1e-7';
    document.querySelector('input[name=until]').value = '1e6';
    window.saltusPlayground.run();
  });
  await pause(1000);
  claim(await page.evaluate(() => window.saltusPlayground.running), 'an endless run goes on');
  await page.getByRole('button', { name: 'Stop the run' }).click();
  await until(page, 'ready again', () => window.saltusPlayground.ready && !window.saltusPlayground.running);
  await page.evaluate(() => window.saltusPlayground.open('ball'));
  await run(page);
  claim(await page.evaluate(() => window.saltusPlayground.viewer.run.head.status === 'complete'), 'after it was stopped another one runs');

  await page.evaluate(() => window.saltusPlayground.open('drop'));
  const session = await page.context().newCDPSession(page);
  const heap = async () => {
    await page.evaluate(() => window.saltusPlayground.viewer.clock.play(false)); // a picture that moves has nodes of its own
    await pause(500);
    await session.send('HeapProfiler.collectGarbage');
    return { bytes: (await session.send('Runtime.getHeapUsage')).usedSize, nodes: (await session.send('Memory.getDOMCounters')).nodes };
  };
  let first = 0;
  let half = { bytes: 0, nodes: 0 };
  for (let i = 0; i < 100; i++) {
    await run(page);
    const memory = await page.evaluate(() => window.saltusPlayground.memory);
    first = i === 4 ? memory : first;
    half = i === 49 ? await heap() : half;
    if (i > 4) claim(memory === first, `run ${i} has ${memory} bytes, the fifth had ${first}`);
  }
  // the engine caches compiled code, with decreasing growth
  const last = await heap();
  console.log(`-- 100 runs: ${(first / 1e6).toFixed(1)} MB of the core; the page has ${(half.bytes / 1e6).toFixed(1)} MB after 50 runs, ${(last.bytes / 1e6).toFixed(1)} MB after 100`);
  claim(last.bytes - half.bytes < 1e6, `the page grows by ${last.bytes - half.bytes} bytes in 50 runs`);
  claim(last.nodes === half.nodes, `the page has ${last.nodes} nodes, ${half.nodes} after 50 runs`);
  claim(page.wrong.length === 0, `the playground is silent: ${page.wrong[0]}`);

  const link = (value) => `#s=${deflateRawSync(Buffer.from(JSON.stringify(value))).toString('base64url')}`;
  await page.evaluate(() => {
    document.querySelector('select[name=scheme]').value = 'moreau-jean';
    const slider = document.querySelector('.sliders input');
    slider.value = String(Number(slider.min) + 0.75 * (Number(slider.max) - Number(slider.min)));
    slider.dispatchEvent(new Event('input'));
  });
  const sent = await page.evaluate(() => ({ value: document.querySelector('.sliders input').value, schemes: document.querySelectorAll('select[name=scheme] option').length }));
  claim(sent.schemes > 15, `${sent.schemes} schemes can be chosen`);
  const hash = await page.evaluate(() => window.saltusPlayground.share());
  await page.close();
  const shared = await open(browser, hash);
  claim(await shared.evaluate(() => window.saltusPlayground.editor.text.includes('ball dropped')), 'a link brings its scene');
  const got = await shared.evaluate(() => ({ value: document.querySelector('.sliders input').value, scheme: document.querySelector('select[name=scheme]').value, runs: window.saltusPlayground.runs }));
  claim(got.value === sent.value && got.scheme === 'moreau-jean', `a link brings scheme and parameters: ${JSON.stringify(got)}`);
  claim(got.runs === 0, 'and does not run by itself');
  await shared.close();
  const evil = '</textarea><script>window.hacked=1</script>';
  for (const [value, words] of [
    [{ text: evil, scheme: '', tol: '', step: '', until: '' }, ''],
    [{ text: 1 }, 'no text'],
    [{ text: 'x', scheme: '<b>', tol: '', step: '', until: '' }, 'no name'],
    [{ text: 'x', scheme: '', tol: '-1', step: '', until: '' }, 'positive'],
    [{ text: 'x', scheme: '', tol: '', step: '', until: '', values: { 'a\nb': 1 } }, 'no numbers of parameters'],
    [{ text: 'x', scheme: '', tol: '', step: '', until: '', values: { a: '<b>' } }, 'no numbers of parameters'],
    [{ text: 'x'.repeat(400000), scheme: '', tol: '', step: '', until: '' }, 'too long'],
  ]) {
    const hostile = await open(browser, link(value));
    await pause(100);
    const found = await hostile.evaluate(() => ({ hacked: window.hacked, text: window.saltusPlayground.editor.text, message: document.querySelector('.message').textContent }));
    claim(found.hacked === undefined, 'nothing of a link runs');
    claim(words === '' ? found.text === evil : found.message.includes(words), `a bad link is refused: ${found.message}`);
    await hostile.close();
  }
} catch (error) {
  if (error !== 'done') throw error;
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}
finish();
