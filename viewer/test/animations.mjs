// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Animations of the README: frames of the viewer at equal times, encoded by ffmpeg as GIF with one palette each.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeReport, openPage, source, wait, work } from './browser.mjs';

const FRAMES = 72; // at 18 frames a second: a loop of 4 s
const SIZE = { width: 420, height: 300 };
export const animations = [
  { name: 'woodpecker', options: ['--until', '0.45'] },
  { name: 'machine-breaker', options: [] },
  { name: 'shapes/jacks', options: ['--until', '0.8', '--scheme', 'moreau-jean', '--step', '1e-3', '--every', '8'] },
];

/** Captures the stage of one scene and writes docs/images/animation-NAME.gif. */
export async function animate(browser, { name, options }) {
  const report = makeReport(join(source, 'scenes', `${name}.yaml`), options);
  const page = await openPage(browser, report.html, { width: 900, height: 640 });
  const folder = join(work, `frames-${report.name}`);
  mkdirSync(folder);
  for (let k = 0; k < FRAMES; k++) {
    const picture = await page.evaluate(
      ([part, width, height]) => {
        const { stage, clock, run } = window.saltusViewer;
        const t = run.need('t');
        clock.setTime(t[0] + part * (t[run.count - 1] - t[0]));
        stage.invalidate();
        stage.draw();
        const scale = Math.min(stage.canvas.width / width, stage.canvas.height / height);
        const copy = document.createElement('canvas');
        [copy.width, copy.height] = [width, height];
        const [w, h] = [width * scale, height * scale];
        copy.getContext('2d').drawImage(stage.canvas, (stage.canvas.width - w) / 2, (stage.canvas.height - h) / 2, w, h, 0, 0, width, height);
        return copy.toDataURL('image/png');
      },
      [k / (FRAMES - 1), SIZE.width, SIZE.height],
    );
    writeFileSync(join(folder, `${String(k).padStart(3, '0')}.png`), Buffer.from(picture.split(',')[1], 'base64'));
    await wait(page);
  }
  await page.close();
  const filter = 'split[a][b];[a]palettegen=max_colors=48[p];[b][p]paletteuse=dither=none:diff_mode=rectangle';
  execFileSync('ffmpeg', ['-y', '-loglevel', 'error', '-framerate', '18', '-i', join(folder, '%03d.png'), '-vf', filter, join(source, 'docs/images', `animation-${name.replace('shapes/', '')}.gif`)]);
}
