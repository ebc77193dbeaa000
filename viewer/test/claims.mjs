// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Claims about reports in a real browser.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { claim, makeReport, openPage, wait, work } from './browser.mjs';
import { viewPlaces } from './formulas.mjs';

/** A scene's report opens without console messages, and objects are at their recorded positions. */
export async function standsWhereItSays(browser, scene, options) {
  const report = makeReport(scene, options);
  const page = await openPage(browser, report.html);
  const states = report.states();
  const result = await page.evaluate(() => {
    const viewer = window.saltusViewer;
    if (viewer === undefined) return undefined;
    const { run, stage, clock } = viewer;
    const frames = [0, 1, Math.floor(run.count / 3), Math.floor(run.count / 2), run.count - 1].filter((k) => k >= 0 && k < run.count);
    const shown = frames.map((k) => {
      clock.setFrame(k);
      stage.draw();
      return {
        frame: run.need('frame')[k],
        t: clock.time,
        bodies: stage.bodies?.poses.map((pose) => pose.toArray()) ?? [],
        drawn: stage.drawing?.places() ?? [],
      };
    });
    // the picture is not empty: pixels that are not those of its corner
    const gl = stage.renderer.getContext();
    const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    const pixels = new Uint8Array(4 * width * height);
    stage.invalidate();
    stage.draw();
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    let other = 0;
    for (let i = 0; i < pixels.length; i += 4) if (pixels[i] !== pixels[0] || pixels[i + 1] !== pixels[1] || pixels[i + 2] !== pixels[2]) other++;
    return { coloured: other > 200, invisible: stage.invisible, shown, names: run.head.mechanism?.bodies.map((body) => body.name) ?? [], seen: stage.size > 0 && (stage.bodies !== undefined || stage.drawing !== undefined) };
  });
  claim(result !== undefined, `${report.name} opens`);
  claim(page.wrong.length === 0, `${report.name} is silent: ${page.wrong[0]}`);
  if (result === undefined) return;
  claim(result.seen, `${report.name} can be seen`);
  const t = states.column('t');
  for (const { frame, t: at, bodies, drawn } of result.shown) {
    const state = (name) => states.column(name)?.[frame];
    claim(t[frame] === at, `${report.name} shows the time of state ${frame}`);
    bodies.forEach((pose, i) => {
      const off = poseError(pose, (part) => state(`${result.names[i]}.${part}`));
      claim(off <= 1e-6, `${report.name}: ${result.names[i]} in state ${frame} is off by ${off}`);
    });
    const expected = viewPlaces(scene, state);
    claim(expected.length === drawn.length, `${report.name} draws ${drawn.length} of ${expected.length} things`);
    drawn.forEach(({ type, points }, i) => {
      const off = Math.max(0, ...(expected[i]?.points ?? []).map((x, k) => Math.abs(x - points[k]) / Math.max(1, Math.abs(x))));
      claim(expected[i]?.type === type && off <= 1e-6, `${report.name}: thing ${i} (${type}) in state ${frame} is off by ${off}`);
    });
  }
  claim(result.coloured, `${report.name}: there is something in the picture`);
  claim(result.invisible.length === 0, `${report.name}: not in the picture: ${result.invisible.join(', ')}`);
  const panes = await page.evaluate(() => [...document.querySelectorAll('.plots canvas')].map((canvas) => {
    const pen = canvas.getContext('2d');
    const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
    let ink = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] > 0) ink++;
    return ink;
  }));
  claim(panes.every((ink) => ink > 100), `${report.name}: blank curves`);
  await page.close();
}

/** Contact nodes are corners of the drawn surface: recorded poses of their frames beside nodes moved by modes. */
export async function surfacesDeform(browser, scene) {
  const report = makeReport(scene, []);
  const page = await openPage(browser, report.html);
  const result = await page.evaluate(() => {
    const { run, stage, clock } = window.saltusViewer;
    const [mesh] = stage.flexible.root.children;
    let off = 0;
    let corners = 0;
    for (const k of [0, Math.floor(run.count / 2), run.count - 1]) {
      clock.setFrame(k);
      stage.draw();
      const points = mesh.geometry.getAttribute('position');
      run.head.mechanism.bodies.forEach((body, i) => {
        if (!body.name.startsWith('plate_')) return;
        const p = stage.bodies.middle[i].clone().applyMatrix4(mesh.matrix.clone().invert());
        let nearest = Infinity;
        for (let n = 0; n < points.count; n++) nearest = Math.min(nearest, Math.hypot(points.getX(n) - p.x, points.getY(n) - p.y, points.getZ(n) - p.z));
        off = Math.max(off, nearest);
        corners++;
      });
    }
    return { off, corners, most: stage.flexible.most, invisible: stage.invisible };
  });
  claim(page.wrong.length === 0, `the plate is silent: ${page.wrong[0]}`);
  claim(result.corners === 24, `the plate has ${result.corners} corners in three states`);
  claim(result.most > 1e-5 && result.off < 1e-3 * result.most + 1e-8, `corners of the plate are off by ${result.off} m of ${result.most} m`);
  claim(result.invisible.length === 0, `not in the picture: ${result.invisible.join(', ')}`);
  await page.close();
}

/** Distance of a matrix (by columns) from the recorded position and attitude. */
function poseError(m, part) {
  const off = ['x', 'y', 'z'].map((axis, k) => (part(axis) === undefined ? 0 : Math.abs(part(axis) - m[12 + k])));
  const angle = part('angle');
  if (angle !== undefined) off.push(Math.abs(m[0] - Math.cos(angle)), Math.abs(m[1] - Math.sin(angle)));
  const [w, x, y, z] = ['qw', 'qx', 'qy', 'qz'].map(part);
  if (w !== undefined) {
    // second column of the matrix of a unit quaternion, and its last one
    const turned = [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)];
    turned.forEach((value, k) => off.push(Math.abs(value - m[k < 3 ? 4 + k : 5 + k])));
  }
  return Math.max(...off);
}

const DISC = `saltus: 1
name: disc
world: {dimension: 2}
bodies:
  disc: {position: [1, 2], mass: 1, inertia: 1, velocity: [0.3, 0], shapes: [{circle: {radius: 0.5}}]}
  bar: {position: [3, 2], mass: 1, inertia: 1, shapes: [{polygon: {points: [[-0.2, -0.6], [0.2, -0.6], [0.2, 0.6], [-0.2, 0.6]]}}]}
simulate: {until: 0.5, step: 0.01, scheme: moreau-jean}
`;

/** Points of the picture belong to bodies to one pixel. */
export async function picksToOnePixel(browser) {
  const report = makeReport(DISC);
  const page = await openPage(browser, report.html);
  const picked = await page.evaluate(() => {
    const { stage, clock, run } = window.saltusViewer;
    clock.setFrame(20);
    stage.draw();
    const middle = stage.bodies.middle[0];
    const at = stage.project(middle);
    const rim = stage.project(middle.clone().setX(middle.x + 0.5));
    const radius = rim.x - at.x;
    const body = (x, y) => stage.pick(x, y).body ?? -1;
    const around = [];
    for (let i = 0; i < 16; i++) {
      const c = Math.cos((i * Math.PI) / 8);
      const s = Math.sin((i * Math.PI) / 8);
      around.push([body(at.x + (radius - 1) * c, at.y + (radius - 1) * s), body(at.x + (radius + 1) * c, at.y + (radius + 1) * s)]);
    }
    return { around, x: middle.x, t: clock.time, names: run.head.mechanism.bodies.map((one) => one.name) };
  });
  claim(Math.abs(picked.x - (1 + 0.3 * picked.t)) < 1e-6, 'the disc flies with 0.3 m/s');
  claim(picked.around.every(([inside, outside]) => inside === 0 && outside === -1), 'the rim of the disc is picked to one pixel');
  const box = await page.locator('.stage canvas').boundingBox();
  const place = await page.evaluate(() => {
    const p = window.saltusViewer.stage.project(window.saltusViewer.stage.bodies.middle[1]);
    return { x: p.x, y: p.y };
  });
  await page.mouse.click(box.x + place.x, box.y + place.y);
  claim((await page.locator('.info').textContent()).startsWith('bar: at 3,'), 'a click shows the numbers of a body');
  claim(page.wrong.length === 0, `picking is silent: ${page.wrong[0]}`);
  await page.close();
}

/** Slider, keys, jumps from event to event, tabs, light and dark, exports. */
export async function obeys(browser, scene) {
  const report = makeReport(scene);
  const page = await openPage(browser, report.html, { width: 1000, height: 520 });
  const now = () => page.evaluate(() => ({ t: saltusViewer.clock.time, frame: saltusViewer.clock.frame, playing: saltusViewer.clock.playing, speed: saltusViewer.clock.speed }));
  const slider = page.getByLabel('Time', { exact: true });
  await slider.fill('1.5');
  claim(Math.abs((await now()).t - 1.5) < 1e-9, 'the slider goes to its time');
  await page.locator('.stage canvas').focus();
  await page.keyboard.press('Home');
  claim((await now()).frame === 0, 'Home goes to the start');
  await page.keyboard.press('ArrowRight');
  claim((await now()).frame === 1, 'an arrow goes to the next state');
  const events = await page.evaluate(() => Array.from(saltusViewer.run.need('event_t')));
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press('Shift+ArrowRight');
    claim(Math.abs((await now()).t - events[i]) < 1e-9, `event ${i} is reached by keys`);
  }
  await page.keyboard.press('Shift+ArrowLeft');
  claim(Math.abs((await now()).t - events[1]) < 1e-9, 'and the one before it');
  await page.keyboard.press('2');
  await page.locator('tr[data-event="3"]').focus();
  await page.keyboard.press('Enter');
  claim(Math.abs((await now()).t - events[3]) < 1e-9, 'a row of the table goes to its time');
  await page.locator('tr[data-event="0"]').click();
  claim(Math.abs((await now()).t - events[0]) < 1e-9, 'by the mouse, too');
  const speed = (await now()).speed;
  await page.locator('.stage canvas').focus();
  await page.keyboard.press('-');
  claim((await now()).speed < 0.5 * speed, 'a key makes it slower');
  await page.getByLabel(/^Speed/).fill('-6');
  claim(Math.abs((await now()).speed - 1e-6) < 1e-12, 'slow motion goes down to 1e-6');
  await page.getByLabel(/^Speed/).fill('0');
  await page.locator('.stage canvas').focus();
  await page.keyboard.press('Space');
  const before = (await now()).t;
  const moved = await page.evaluate((t) => new Promise((done) => {
    let pictures = 0;
    const look = () => (saltusViewer.clock.time > t || ++pictures > 60 ? done(saltusViewer.clock.time > t) : requestAnimationFrame(look));
    look();
  }), before);
  claim(moved && (await now()).playing, 'space plays');
  await page.keyboard.press('Space');
  claim(!(await now()).playing, 'and stops');
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.keyboard.press('l');
  claim((await background()) !== light, 'there is light and dark');
  await contrast(page, 'dark');
  await page.keyboard.press('l');
  claim((await background()) === light, 'and back');
  await contrast(page, 'light');
  for (const [name, start] of [['CSV', 't,'], ['Events CSV', 't,kind,where']]) {
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: name === 'CSV' ? /shown states/ : /events as a table/ }).click()]);
    claim(readFileSync(await file.path(), 'utf8').startsWith(start), `${name} is a table`);
  }
  const [picture] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save the picture' }).click()]);
  claim(readFileSync(await picture.path()).subarray(1, 4).toString() === 'PNG', 'a picture is saved');
  claim(page.wrong.length === 0, `using it is silent: ${page.wrong[0]}`);
  await page.close();
}

/** Contrast of texts by WCAG 2: 4.5 at least. */
async function contrast(page, theme) {
  const ratios = await page.evaluate(() => {
    const pen = document.createElement('canvas').getContext('2d');
    const light = (name) => {
      pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      const parts = [1, 3, 5].map((i) => parseInt(pen.fillStyle.slice(i, i + 2), 16) / 255);
      const [r, g, b] = parts.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const pairs = [['--text', '--page'], ['--text', '--panel'], ['--muted', '--page'], ['--good', '--page'], ['--bad', '--page'], ['--text', '--mark'], ['--text', '--stage']];
    const curves = [1, 2, 3, 4, 5, 6, 7, 8].map((i) => [`--line-${i}`, '--page']);
    return [...pairs, ...curves].map(([a, b]) => {
      const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
      return { pair: `${a} on ${b}`, ratio: (high + 0.05) / (low + 0.05), least: a.startsWith('--line') ? 3 : 4.5 };
    });
  });
  for (const { pair, ratio, least } of ratios) claim(ratio >= least, `${theme}: contrast of ${pair} is ${ratio.toFixed(2)}, less than ${least}`);
}

const ELEMENTS = `saltus: 1
name: elements
world: {gravity: [0, -9.81]}
bodies:
  cam: {driven: {angle: 5*t}}
  follower: {mass: 1, inertia: 1, position: [0, 0.3]}
  bob: {mass: 1, inertia: 0.01, position: [1, 0]}
  pin: {mass: 1, inertia: 0.01, position: [2, 0]}
markers:
  axle: {body: cam}
  line: {angle: pi/2}
  roller: {body: follower, angle: pi/2}
  hook: {point: [1, 0.5]}
  eye: {body: bob}
  bearing: {point: [2, 0]}
  shaft: {body: pin}
joints: [{name: slide, type: prismatic, between: [line, roller]}]
elements:
  - {name: cam, type: cam, between: [axle, roller], follower: roller, radius: 0.05, profile: {formula: 0.25 + 0.05*cos(beta)}}
  - {name: rope, type: rope, between: [hook, eye], length: 0.7}
  - {name: journal, type: journal, between: [bearing, shaft], radius: 0.1, clearance: 0.001}
simulate: {until: 0.2, step: 0.001, scheme: moreau-jean}
`;

/** Machine elements have their shape; clearances are enlarged by the slider; formulas without a drawing show their gaps. */
export async function elementsAreDrawn(browser) {
  const page = await openPage(browser, makeReport(ELEMENTS).html);
  const found = await page.evaluate(() => {
    const { stage } = window.saltusViewer;
    const size = (k) => {
      stage.elements.clearance = k;
      stage.invalidate();
      stage.draw();
      const box = (object) => object.geometry.computeBoundingBox() ?? object.geometry.boundingBox;
      return stage.elements.parts.filter((part) => part.element.name === 'journal').map((part) => box(part.object.children[0]).max.x);
    };
    const cam = stage.elements.parts.find((part) => part.element.name === 'cam').object.children[0].geometry;
    cam.computeBoundingBox();
    return { invisible: stage.invisible, names: [...stage.elements.drawn.names].sort().join(), once: size(1), ten: size(10), cam: cam.boundingBox };
  });
  claim(found.names === 'cam,journal,rope' && found.invisible.length === 0, `elements that are drawn: ${found.names}, not: ${found.invisible}`);
  claim(Math.abs(found.once[0] - 0.101) < 1e-6 && Math.abs(found.ten[0] - 0.11) < 1e-6, `a bearing of ${found.once[0]} m is drawn with ${found.ten[0]} m`);
  // the path of the centre is 0.3 m and 0.2 m from the axle, the roller has 0.05 m
  claim(Math.abs(found.cam.max.x - 0.25) < 1e-4 && Math.abs(found.cam.min.x + 0.15) < 1e-4, `the cam reaches from ${found.cam.min.x} to ${found.cam.max.x}`);
  await page.close();
  const formulas = DISC.replace(/world:[^]*simulate/, "coordinates: {q: {start: 1}}\nkinetic: q'^2/2\npotential: 9.81*q\ncontacts: [{name: floor, gap: q}]\nsimulate");
  const bare = await openPage(browser, makeReport(formulas).html);
  const card = await bare.locator('.card').textContent();
  const drawn = await bare.evaluate(() => window.saltusViewer.stage.drawing.places().length);
  claim(/gaps of its contacts/.test(card) && drawn === 3, `formulas without a drawing show ${drawn} things: ${card}`);
  await bare.close();
}

/** The tables for designers have the loads of joints, the impacts of contacts and the parameters; printed pages show them. */
export async function designsAreListed(browser, scene) {
  const page = await openPage(browser, makeReport(scene).html);
  await page.getByRole('tab', { name: 'Design' }).click();
  const rows = (title) => page.locator(`.design h3:text-is("${title}") + table tbody tr`);
  const [joints, contacts, parameters] = await Promise.all(['Joints', 'Contacts', 'Parameters'].map((title) => rows(title).allTextContents()));
  claim(joints.length === 5 && joints[0].startsWith('main156.4'), `joints of the press: ${joints[0]}`);
  claim(contacts.length === 1 && contacts[0].startsWith('blow23.651'), `contacts of the press: ${contacts}`);
  claim(parameters.includes('speed [rad/s]62.8318531'), `parameters of the press: ${parameters}`);
  await page.emulateMedia({ media: 'print' });
  claim(await page.locator('.design').isVisible() && await page.locator('.plots').isVisible(), 'tables and curves are printed');
  claim(!(await page.locator('.timebar').isVisible()) && !(await page.locator('.tabs').isVisible()), 'buttons are not');
  await page.close();
}

/** Curves of contact forces have the names of the bodies: four wheels, which bear 57 kg. */
export async function contactsHaveNames(browser, scene) {
  const page = await openPage(browser, makeReport(scene, ['--until', '0.5']).html);
  const found = await page.evaluate(() => {
    const { plots, run } = window.saltusViewer;
    const { series } = plots.panels.find((panel) => panel.title === 'Contact forces');
    return { labels: series.map((one) => one.label).sort().join(), sum: series.reduce((total, one) => total + one.values[run.count - 1], 0) };
  });
  claim(found.labels === 'fl / world,fr / world,rl / world,rr / world', `contacts of the rover: ${found.labels}`);
  claim(Math.abs(found.sum - 57 * 9.81) < 1e-3, `the wheels of the rover bear ${found.sum} N`);
  await page.close();
}

const HINGE = `saltus: 1
name: hinge
world: {gravity: [0, -9.81]}
bodies: {arm: {mass: 2, inertia: 0.1, position: [0.5, 0], shapes: [{capsule: {radius: 0.05, length: 0.8}}]}}
markers: {wall: {angle: 0.3}, end: {body: arm, point: [-0.5, 0]}}
joints: [{name: pin, type: revolute, between: [wall, end]}]
simulate: {until: 1, step: 0.01, scheme: moreau-jean}
`;

/** Forces of joints are arrows with the size of the recorded multipliers; measured values are points beside their curve. */
export async function loadsAndMeasurementsAreDrawn(browser) {
  const table = join(work, 'measured.csv');
  writeFileSync(table, 't,arm.x,temperature\n0.1,0.5,20\n0.25,0.4,21\n0.605,0.1,22\n');
  const report = makeReport(HINGE, [], false, ['--measured', table]);
  const page = await openPage(browser, report.html);
  await page.keyboard.press('h');
  const found = await page.evaluate(() => {
    const { stage, clock, plots, run } = window.saltusViewer;
    clock.setFrame(50);
    stage.draw();
    const frame = 50;
    const curves = plots.plots.map((plot) => plot.series.map((one) => one.label));
    const k = curves.findIndex((labels) => labels.includes('arm.x measured'));
    const plot = plots.plots[k];
    const points = plot?.data[curves[k].indexOf('arm.x measured')] ?? [];
    const listed = points.map((value, i) => [plot.data[0][i], value]).filter(([, value]) => typeof value === 'number');
    const curve = plot?.data[curves[k].indexOf('arm.x')] ?? [];
    return {
      arrows: stage.reactions?.drawn, force: stage.reactions?.force(0, frame).toArray(),
      rows: Array.from(run.need('joint_force').slice(2 * frame, 2 * frame + 2)), names: run.head.joint_names,
      listed, whole: curve.filter((value) => typeof value === 'number').length === run.count, titles: plots.titles,
    };
  });
  const size = Math.hypot(...(found.force ?? []));
  claim(found.arrows === 1 && Math.abs(size - Math.hypot(...found.rows)) < 1e-9 * size && size > 1, `the pin has ${found.arrows} arrows, a force of ${size} N, rows ${found.rows}`);
  // the arm accelerates with m a = F + m g: the force on it follows from the recorded velocities
  const states = report.states();
  const a = ["arm.x'", "arm.y'"].map((name) => (states.column(name)[50] - states.column(name)[49]) / 0.01);
  const expected = [2 * a[0], 2 * (a[1] + 9.81)];
  const off = Math.hypot(found.force[0] - expected[0], found.force[1] - expected[1]);
  claim(off < 1e-6 * size, `the force of the pin is ${found.force}, by the motion ${expected}`);
  claim(JSON.stringify(found.listed) === '[[0.1,0.5],[0.25,0.4],[0.605,0.1]]' && found.whole, `measured values are ${JSON.stringify(found.listed)}`);
  claim(found.titles[0] === 'Measured', `columns without a curve have a panel: ${found.titles[0]}`);
  claim(page.wrong.length === 0, `measured values are silent: ${page.wrong[0]}`);
  await page.close();
}

/** Every impact has its stem: ink at half of its impulse; axes have four labels at least. */
export async function impulsesAreStems(browser, scene) {
  const page = await openPage(browser, makeReport(scene).html);
  await wait(page);
  const found = await page.evaluate(() => {
    const { plots } = window.saltusViewer;
    const plot = plots.plots[plots.panels.filter((one) => one.shown.size > 0).findIndex((one) => one.title === 'Impulses')];
    const pen = plot.ctx;
    const missing = [];
    let stems = 0;
    plot.data.slice(1).forEach((values) => values.forEach((value, i) => {
      if (typeof value !== 'number') return;
      const y = plot.valToPos(0.5 * value, 'y', true);
      if (Math.abs(plot.valToPos(value, 'y', true) - plot.valToPos(0, 'y', true)) < 4) return;
      stems++;
      const { data } = pen.getImageData(Math.round(plot.valToPos(plot.data[0][i], 'x', true)) - 1, Math.round(y), 3, 1);
      if (![0, 1, 2].some((k) => Math.abs(data[4 * k] - data[4 * k + 2]) > 20)) missing.push(plot.data[0][i]);
    }));
    const labels = plots.plots.map((one) => [one.axes[1]._splits.filter((value) => value >= one.scales.y.min && value <= one.scales.y.max).length, one.series.map((s) => s.label).join()]);
    return { stems, missing, few: labels.filter(([count]) => count < 4) };
  });
  claim(found.stems > 1 && found.missing.length === 0, `${found.missing.length} of ${found.stems} impulses have no stem, at ${found.missing.slice(0, 3)} s`);
  claim(found.few.length === 0, `axes with fewer than four labels: ${JSON.stringify(found.few)}`);
  await page.close();
}

const HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>"\\\'';

/** Names and texts are data: nothing of them runs. */
export async function namesAreData(browser) {
  const quoted = JSON.stringify(HOSTILE).replaceAll('<', '\\u003c');
  const scene = `saltus: 1
name: ${quoted}
description: ${quoted}
coordinates: {q: {start: 1, unit: "<b>m</b>"}}
kinetic: q'^2/2
potential: 2*q
contacts: [{name: ${quoted}, gap: q, restitution: 1/2}]
outputs: {height: {formula: q, unit: ${quoted}}}
view: [{type: text, at: [0, q], text: ${quoted}}, {type: point, at: [0, q], name: ${quoted}}]
simulate: {until: 2, step: 0.01, scheme: moreau-jean}
`;
  const report = makeReport(scene);
  claim(!/hacked/.test(readFileSync(report.html, 'utf8')), 'nothing of a name stands in the page as it is');
  const page = await openPage(browser, report.html);
  for (const key of '123456') await page.keyboard.press(key);
  await wait(page);
  const found = await page.evaluate(() => ({ hacked: window.hacked, title: document.querySelector('h1').textContent, images: document.images.length, scripts: document.scripts.length }));
  claim(found.hacked === undefined && found.images === 0 && found.scripts === 2, 'no script of a name runs');
  claim(found.title === HOSTILE, 'the name is shown as it is');
  // an injected script would not run: its hash is not allowed
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.hacked = 3';
    document.body.append(script);
  });
  claim((await page.evaluate(() => window.hacked)) === undefined, 'the policy of the page holds');
  await page.close();
}

/** A modified document is rejected with a message. */
export async function damageIsRefused(browser, scene) {
  const report = makeReport(scene);
  const text = readFileSync(report.html, 'utf8');
  for (const [what, change] of [
    ['another beginning', (bytes) => bytes.fill(65, 0, 4)],
    ['a head that is too long', (bytes) => bytes.writeBigUInt64LE(1n << 40n, 8)],
    ['an end that is missing', (bytes) => bytes.subarray(0, bytes.length >> 1)],
  ]) {
    const path = report.html.replace('.html', '-damaged.html');
    writeFileSync(path, text.replace(/(id="saltus-document">)([^<]*)/, (_, head, body) => {
      const bytes = Buffer.from(body, 'base64');
      const changed = change(bytes);
      return head + (Buffer.isBuffer(changed) ? changed : bytes).toString('base64');
    }));
    const page = await browser.newPage();
    await page.goto(`file://${path}`);
    claim(/cannot be shown/.test(await page.locator('[role=alert]').textContent()), `${what} is refused`);
    await page.close();
  }
}

/** A film of the last part of a run is a WebM. */
export async function savesAFilm(browser, scene) {
  const report = makeReport(scene);
  const page = await openPage(browser, report.html); // the whole canvas is on the screen
  await page.evaluate(() => {
    const { clock } = window.saltusViewer;
    clock.setTime(clock.end - 3);
  });
  const [film] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: /^WebM/ }).click()]);
  const bytes = readFileSync(await film.path());
  claim(film.suggestedFilename().endsWith('.webm') && bytes.readUInt32BE(0) === 0x1a45dfa3 && bytes.includes('webm') && bytes.length > 2000, `a film of ${bytes.length} bytes is saved`);
  claim(page.wrong.length === 0, `filming is silent: ${page.wrong[0]}`);
  await page.close();
}

/** The picture of a scene is that in the documentation, but for single pixels. */
export async function looksAsBefore(browser, scene, options, at, path, write) {
  const report = makeReport(scene, options);
  const page = await openPage(browser, report.html, { width: 1180, height: 620 });
  await page.evaluate((part) => {
    const { clock } = window.saltusViewer;
    clock.setTime(clock.start + part * (clock.end - clock.start));
  }, at);
  await wait(page);
  const picture = await page.evaluate(() => {
    window.saltusViewer.stage.invalidate();
    window.saltusViewer.stage.draw();
    return window.saltusViewer.stage.canvas.toDataURL('image/png');
  });
  const bytes = Buffer.from(picture.split(',')[1], 'base64');
  const { existsSync } = await import('node:fs');
  if (write || !existsSync(path)) {
    claim(write, `${path} is missing`);
    if (write) writeFileSync(path, bytes);
    await page.close();
    return;
  }
  const off = await page.evaluate(async ([a, b]) => {
    const pixels = async (url) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const canvas = document.createElement('canvas');
      canvas.width = image.width;
      canvas.height = image.height;
      const pen = canvas.getContext('2d');
      pen.drawImage(image, 0, 0);
      return pen.getImageData(0, 0, image.width, image.height);
    };
    const [x, y] = [await pixels(a), await pixels(b)];
    if (x.width !== y.width || x.height !== y.height) return 1;
    let different = 0;
    for (let i = 0; i < x.data.length; i += 4) {
      if (Math.max(...[0, 1, 2].map((k) => Math.abs(x.data[i + k] - y.data[i + k]))) > 48) different++;
    }
    return different / (x.width * x.height);
  }, [picture, `data:image/png;base64,${readFileSync(path).toString('base64')}`]);
  claim(off < 0.01, `${report.name}: ${(100 * off).toFixed(2)} % of the picture differ from ${path}`);
  await page.close();
}
