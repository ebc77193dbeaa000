// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Accessibility: the rules of axe-core (WCAG 2 A and AA, contrast included) in every tab, in light and dark, and the
// keyboard alone.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { claim, makeReport, openPage, wait } from './browser.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Findings of axe in the present page. */
export async function judge(page, where) {
  if (await page.evaluate(() => window.axe === undefined)) await page.addScriptTag({ content: axe });
  const found = await page.evaluate(async () => {
    const result = await window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], resultTypes: ['violations'] });
    return result.violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(' ')}: ${node.failureSummary?.split('\n')[1]?.trim()}`));
  });
  found.forEach((text) => claim(false, `${where}: ${text}`));
}

/** A page whose policy does not stop axe; all else is as ever. */
export async function openForAxe(browser, path, ready, width = 1200) {
  const context = await browser.newContext({ bypassCSP: true, viewport: { width, height: width < 500 ? 844 : 720 } });
  const page = await context.newPage();
  page.setDefaultTimeout(120000);
  await page.goto(`file://${path}`);
  await page.waitForSelector(ready);
  return page;
}

/** Nothing is wider than the window. */
export async function fits(page, where) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  claim(wide <= 0, `${where} is ${wide} pixels wider than the window`);
}

/** Every tab in light and dark, at a width of the window. */
export async function isAccessible(browser, scene, options, width) {
  const report = makeReport(scene, options, true);
  const page = await openForAxe(browser, report.html, '.viewer canvas', width);
  for (const theme of ['light', 'dark']) {
    for (const key of '123456') {
      await page.keyboard.press(key);
      await wait(page);
      await judge(page, `${report.name}, ${width} px, ${theme}, tab ${key}`);
      await fits(page, `${report.name}, ${width} px, tab ${key}`);
    }
    await page.keyboard.press('?');
    await judge(page, `${report.name}, ${theme}, keys`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('l');
  }
  await page.context().close();
}

/** The key Tab reaches every control that is visible. */
export async function tabReachesAll(page, where) {
  await page.evaluate(() => document.activeElement?.blur());
  const wanted = await page.evaluate(() => {
    const all = [...document.querySelectorAll('button, select, input, textarea, summary, [tabindex="0"]')];
    window.toReach = new Set(all.filter((one) => one.checkVisibility() && !one.disabled && one.getAttribute('role') !== 'tab'));
    return window.toReach.size;
  });
  claim(wanted > 20, `${where} has things to reach: ${wanted}`);
  for (let i = 0; i < wanted + 20; i++) {
    await page.keyboard.press('Tab');
    const left = await page.evaluate(() => {
      window.toReach.delete(document.activeElement);
      return window.toReach.size;
    });
    if (left === 0) break;
  }
  const missed = await page.evaluate(() => [...window.toReach].map((one) => `${one.tagName} ${one.getAttribute('aria-label') ?? one.textContent.slice(0, 40)}`));
  claim(missed.length === 0, `${where}: the keyboard does not reach ${missed.join(', ')}`);
}

/** Tab reaches everything that reacts to a click, and the listed keys have their documented effect. */
export async function keysReachEverything(browser, scene) {
  const report = makeReport(scene);
  const page = await openPage(browser, report.html);
  for (const tab of '123456') {
    await page.keyboard.press(tab);
    await tabReachesAll(page, `tab ${tab}`);
  }
  const now = (what) => page.evaluate(what);
  await page.keyboard.press('1');
  await page.locator('.stage canvas').focus();
  for (const [key, toggle] of [['t', 'trails'], ['c', 'friction cones'], ['n', 'normals']]) {
    const box = page.getByLabel(toggle);
    const before = await box.isChecked();
    await page.keyboard.press(key);
    claim((await box.isChecked()) !== before, `${key} changes ${toggle}`);
  }
  const camera = () => now(() => JSON.stringify([saltusViewer.stage.camera.position, saltusViewer.stage.camera.zoom]));
  for (const key of 'wasdqe') {
    const before = await camera();
    await page.keyboard.press(key);
    claim((await camera()) !== before, `${key} moves the camera`);
  }
  await page.keyboard.press('End');
  await page.keyboard.press('k');
  await wait(page);
  claim(/contact .*: at .* m, gap .*force/.test(await page.locator('.info').textContent()), 'k shows the numbers of a contact');
  const width = () => now(() => saltusViewer.plots.plots[0].scales.x.max - saltusViewer.plots.plots[0].scales.x.min);
  const whole = await width();
  await page.keyboard.press('z');
  claim((await width()) < 0.6 * whole, 'z zooms into the curves');
  await page.keyboard.press('Z');
  claim(Math.abs((await width()) - whole) < 1e-9, 'and out');
  claim(page.wrong.length === 0, `keys are silent: ${page.wrong[0]}`);
  await page.close();
}
