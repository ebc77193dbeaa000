// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Many bodies, and recordings that are too long for a page.
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { claim, makeReport, openPage, wait, work } from './browser.mjs';

/** A cube of 10 x 10 x 10 balls in a corner of the world: 3 x 900 contacts between them, 3 x 100 at the walls. */
function packedBalls() {
  let bodies = '';
  for (let i = 0; i < 1000; i++) {
    const [x, y, z] = [i % 10, Math.floor(i / 10) % 10, Math.floor(i / 100)];
    bodies += `  b${i}: {position: [${(0.1 + 0.2 * x).toFixed(1)}, ${(0.1 + 0.2 * y).toFixed(1)}, ${(0.1 + 0.2 * z).toFixed(1)}], mass: 4, shapes: [{sphere: {radius: 0.1}}]}\n`;
  }
  const walls = '[{half-space: {}}, {half-space: {}, orientation: {axis: [0, 1, 0], angle: pi/2}}, {half-space: {}, orientation: {axis: [1, 0, 0], angle: -pi/2}}]';
  return `saltus: 1\nname: a thousand balls\nworld: {dimension: 3, gravity: [-1, -1, -9.81], shapes: ${walls}}\nbodies:\n${bodies}simulate: {until: 0.02, step: 0.005, scheme: moreau-jean}\n`;
}

/** A thousand balls and their contacts take few draw calls, with everything that can be shown. */
export async function manyAreCheap(browser) {
  const report = makeReport(packedBalls());
  const page = await openPage(browser, report.html, { width: 500, height: 400 }); // small, since it is rendered in software
  const look = () => page.evaluate(() => {
    const { stage, clock, run } = window.saltusViewer;
    clock.setFrame(run.count - 1);
    stage.invalidate();
    stage.draw();
    const start = run.need('row_start');
    return { calls: stage.renderer.info.render.calls, contacts: start[run.count] - start[run.count - 1], drawn: stage.contacts.drawn };
  });
  const plain = await look();
  claim(plain.contacts >= 3000, `the balls have ${plain.contacts} contacts`);
  claim(plain.calls <= 20, `a thousand balls take ${plain.calls} draw calls`);
  await page.evaluate(() => {
    for (const label of document.querySelectorAll('.tools label')) if (/trails|normals|friction cones/.test(label.textContent)) label.querySelector('input').click();
  });
  const full = await look();
  console.log(`-- a thousand balls with ${plain.contacts} contacts: ${plain.calls} draw calls, ${full.calls} with trails, normals and cones`);
  claim(full.calls <= 20, `with everything they take ${full.calls} draw calls`);
  claim(full.drawn.arrows >= plain.drawn.arrows + plain.contacts, `${full.drawn.arrows} arrows: every contact has its normal`);
  claim(page.wrong.length === 0, `a thousand balls are silent: ${page.wrong[0]}`);
  await page.close();
}

/** Pictures a second of a thousand balls that play: of the page, and without the rasteriser, which is software here. */
export async function manyAreFast(browser) {
  const report = makeReport(packedBalls());
  const page = await openPage(browser, report.html, { width: 1200, height: 720 });
  const rate = await page.evaluate(async () => {
    const { stage, clock } = window.saltusViewer;
    clock.speed = 1e-3; // the run lasts 0.02 s
    clock.play(true);
    const start = performance.now();
    let pictures = 0;
    while (performance.now() - start < 4000) {
      await new Promise((done) => requestAnimationFrame(done));
      pictures++;
    }
    const page = (1000 * pictures) / (performance.now() - start);
    clock.play(false);
    const render = stage.renderer.render;
    stage.renderer.render = () => undefined;
    const from = performance.now();
    for (let i = 0; i < 100; i++) {
      stage.invalidate();
      stage.draw();
    }
    const script = (1000 * 100) / (performance.now() - from);
    stage.renderer.render = render;
    return { page, script };
  });
  console.log(`-- a thousand balls: ${rate.page.toFixed(1)} pictures a second with a software rasteriser, ${rate.script.toFixed(0)} a second without it`);
  claim(rate.script > 10, `a picture of a thousand balls takes ${(1000 / rate.script).toFixed(1)} ms besides the rasteriser`);
  claim(page.wrong.length === 0, `playing a thousand balls is silent: ${page.wrong[0]}`);
  await page.close();
}

const SHAKEN = `saltus: 1
name: a ball on a table that shakes
parameters: {w: 60, a: 0.01}
coordinates: {q: {start: 0.1, unit: m}, p: {start: 0, velocity: 1, unit: m}, r: {start: 1, unit: m}}
kinetic: (q'^2 + p'^2 + r'^2)/2
potential: 9.81*q + 200*r^2
contacts: [{name: table, gap: q - a*sin(w*t), restitution: 0.8}]
view: [{type: line, points: [[-0.2, a*sin(w*t)], [0.2, a*sin(w*t)]]}, {type: circle, at: [0, q + 0.02], radius: 0.02}]
simulate: {until: 33, step: 1e-4, scheme: moreau-jean}
`;

/** The report of a recording of 100 MB: below 20 MB, soon there, with every event. */
export async function longIsThinned(browser) {
  const report = makeReport(SHAKEN);
  const [recorded, size] = [statSync(report.html.replace('.html', '.csv')).size, statSync(report.html).size];
  claim(recorded >= 100e6, `the recording has ${recorded} bytes`);
  claim(size < 20e6, `its report has ${size} bytes`);
  const start = Date.now();
  const page = await openPage(browser, report.html);
  await wait(page);
  const seconds = (Date.now() - start) / 1000;
  console.log(`-- recording of ${(recorded / 1e6).toFixed(0)} MB: report ${(size / 1e6).toFixed(1)} MB, open after ${seconds.toFixed(2)} s`);
  claim(seconds < 50, `it opens after ${seconds} s`);
  const shown = await page.evaluate(() => {
    const { run } = window.saltusViewer;
    return { shown: run.head.shown, recorded: run.head.recorded, t: Array.from(run.need('event_t')), impulse: Array.from(run.need('event_numbers')).filter((_, i) => i % 12 === 3).reduce((a, b) => a + b, 0), sum: run.need('impulse').reduce((a, b) => a + b, 0), words: document.querySelector('header p').textContent };
  });
  const lines = readFileSync(report.html.replace('.html', '.events.csv'), 'utf8').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  claim(shown.shown < shown.recorded && shown.words.includes(`${shown.shown} of ${shown.recorded}`), 'the page says how many states it shows');
  claim(shown.t.length === lines.length - 1, `${shown.t.length} of ${lines.length - 1} events are there`);
  claim(Math.abs(shown.impulse - shown.sum) <= 1e-4 * Math.abs(shown.impulse), `impulses of ${shown.sum} N s are shown, ${shown.impulse} N s of events`);
  claim(page.wrong.length === 0, `a long run is silent: ${page.wrong[0]}`);
  await page.close();
  for (const extension of ['csv', 'events.csv', 'html']) rmSync(join(work, `${report.name}.${extension}`));
}
