// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// node test/run.mjs short | all | pictures | animations: claims about reports in Chromium; tools/viewer-test runs it.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { claim, finish, launch, source, work } from './browser.mjs';
import { animate, animations } from './animations.mjs';
import { isAccessible, keysReachEverything } from './access.mjs';
import { contactsHaveNames, damageIsRefused, designsAreListed, elementsAreDrawn, impulsesAreStems, loadsAndMeasurementsAreDrawn, looksAsBefore, namesAreData, obeys, picksToOnePixel, savesAFilm, standsWhereItSays, surfacesDeform } from './claims.mjs';
import { followsPython } from './live.mjs';
import { longIsThinned, manyAreCheap, manyAreFast } from './large.mjs';

const what = process.argv[2] ?? 'short';
const scene = (name) => join(source, 'scenes', `${name}.yaml`);
// long scenes are shortened; the page does not depend on it
const options = { 'column-10': ['--until', '8'], 'spring-pendulum': ['--until', '10'], 'bodies-flyball': ['--until', '2'], galton: ['--until', '0.4'], 'spheres-in-box': ['--until', '0.3'], jacks: ['--until', '0.4'], dominoes: ['--until', '0.3'] };
export const pictures = [
  ['woodpecker', 0.06], ['machine-breaker', 0.46], ['machine-slider-crank', 0.5], ['machine-four-bar', 0.3], ['machine-dominoes', 0.6],
  ['bodies-flyball', 0.2], ['contact-corner-cube', 0.7], ['double-pendulum-rough', 0.4], ['machine-walker', 0.3], ['shapes/stack', 0.5],
  ['machine-press', 0.27], ['machine-ratchet', 0.2], ['machine-cam-follower', 0.4], ['machine-valve-train', 0.3], ['machine-dimer', 0.5],
  ['contact-arch', 0.5], ['shapes/jacks', 0.5], ['shapes/galton', 0.6], ['shapes/rover', 0.5], ['flexible-slider-crank', 0.3],
  ['flexible/phone-plate', 0.5],
];

/** The cards of the gallery (tools/site/figures.py) are among the scenes whose pictures are compared. */
function galleryIsCompared() {
  const cards = /^CARDS = \[([^]*?)^\]/m.exec(readFileSync(join(source, 'tools/site/figures.py'), 'utf8'))[1];
  const names = [...cards.matchAll(/^ *\('([\w/-]+)',/gm)].map((found) => found[1]).sort();
  const drawn = new Set(pictures.map(([name]) => name));
  claim(names.length >= 20 && names.every((name) => drawn.has(name)), `cards of the gallery: ${names}`);
}

const browser = await launch();
try {
  galleryIsCompared();
  if (what === 'pictures' || what === 'all') {
    for (const [name, at] of pictures) {
      await looksAsBefore(browser, scene(name), options[basename(name)] ?? [], at, join(source, 'docs/images', `view-${basename(name)}.png`), what === 'pictures');
    }
  }
  if (what === 'animations') {
    for (const one of animations) await animate(browser, one);
  }
  if (what === 'short' || what === 'all') {
    await namesAreData(browser);
    await picksToOnePixel(browser);
    await elementsAreDrawn(browser);
    await loadsAndMeasurementsAreDrawn(browser);
    await impulsesAreStems(browser, scene('ball'));
    await impulsesAreStems(browser, scene('woodpecker'));
    await designsAreListed(browser, scene('machine-press'));
    await contactsHaveNames(browser, scene('shapes/rover'));
    await obeys(browser, scene('ball'));
    await standsWhereItSays(browser, scene('machine-breaker-arm'), []);
    await standsWhereItSays(browser, scene('woodpecker'), []);
    await surfacesDeform(browser, scene('flexible/phone-plate'));
    await followsPython(browser, scene('shapes/box-on-corner'));
  }
  if (what === 'all') {
    await damageIsRefused(browser, scene('ball'));
    await savesAFilm(browser, scene('ball'));
    for (const width of [390, 1400]) {
      await isAccessible(browser, scene('contact-rocking'), [], width);
      await isAccessible(browser, scene('woodpecker'), [], width);
    }
    await keysReachEverything(browser, scene('contact-rocking'));
    await manyAreCheap(browser);
    await manyAreFast(browser);
    await longIsThinned(browser);
    for (const folder of ['scenes', 'scenes/shapes', 'scenes/flexible']) {
      for (const file of readdirSync(join(source, folder)).filter((name) => name.endsWith('.yaml')).sort()) {
        await standsWhereItSays(browser, join(source, folder, file), options[file.replace('.yaml', '')] ?? []);
      }
    }
  }
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}
finish();
