// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// The live view of a simulation that Python advances: the picture follows, other tokens are refused.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { get } from 'node:http';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { claim, openPage, source } from './browser.mjs';

const path = process.env.SALTUS_PYTHON_PATH ?? join(source, 'build/python-path');
const script = `
import sys, saltus
sim = saltus.Model(sys.argv[1]).simulate(step=1e-3, record=1)
with sim.view(show=False) as view:
    print(view.url, flush=True)
    for line in sys.stdin:
        sim.advance(float(line))
        view.update(always=True)
        print(sim.t, flush=True)
`;

const shown = () => {
  const { run, stage } = window.saltusViewer;
  const pose = run.get('pose');
  return { t: run.t[0], height: pose?.[2] ?? run.get('view')[1], picture: stage.canvas.toDataURL() };
};

/** Status of a request, or the code of the error. */
const status = (options) => new Promise((done) => {
  get(options, (answer) => { answer.resume(); done(answer.statusCode); }).on('error', (error) => done(error.code));
});

/** Other hosts (names that lead to 127.0.0.1) and other interfaces of this machine have no page. */
async function isOnLoopbackAlone(url) {
  const { port, pathname } = new URL(url);
  claim(await status({ port, path: pathname, headers: { Host: `127.0.0.1:${port}` } }) === 200, 'live view: the token is answered');
  const other = await status({ port, path: pathname, headers: { Host: `elsewhere.example:${port}` } });
  claim(other === 403, `live view: another host is answered with ${other}`);
  for (const { address, family, internal } of Object.values(networkInterfaces()).flat()) {
    if (!internal && family === 'IPv4') {
      const outside = await status({ host: address, port, path: pathname });
      claim(outside === 'ECONNREFUSED', `live view: ${address} is answered with ${outside}`);
    }
  }
}

/** A scene whose picture changes as Python advances it. */
export async function followsPython(browser, scene) {
  if (!existsSync(join(path, 'saltus/_core.abi3.so'))) {
    console.log(`SKIPPED: live view, no Python package in ${path}`);
    return;
  }
  const python = spawn('/usr/bin/python3', ['-c', script, scene], { env: { ...process.env, PYTHONPATH: path }, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
    const url = (await lines.next()).value;
    const page = await openPage(browser, url);
    const wait = (t) => page.waitForFunction((end) => Math.abs(window.saltusViewer.run.t[0] - end) < 1e-9, t);
    await wait(0);
    const before = await page.evaluate(shown);
    python.stdin.write('0.2\n');
    await lines.next();
    await wait(0.2);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const after = await page.evaluate(shown);
    claim(before.height - after.height > 0.01, `live view: the body falls from ${before.height} to ${after.height} m`);
    claim(before.picture !== after.picture, 'live view: the picture changes with the state');
    claim(page.wrong.length === 0, `live view: ${page.wrong.join('; ')}`);
    const refused = await page.request.get(url.replace(/[^/]+\/$/, 'x'.repeat(32) + '/'));
    claim(refused.status() === 403, `live view: another token is answered with ${refused.status()}`);
    await isOnLoopbackAlone(url);
    await page.close();
  } finally {
    python.kill();
  }
}
