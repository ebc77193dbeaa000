// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// node playground.mjs OUT: OUT/play.js and OUT/play.wasm, the viewer and all scenes become OUT/playground.html.
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bundle, hash, licences, licenceTexts, style } from './build.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2]);
const packed = (bytes) => gzipSync(bytes, { level: 9 }).toString('base64');

const compiled = async (file, format) => (await build({
  entryPoints: [join(here, 'src', file)],
  bundle: true,
  minify: true,
  format,
  target: 'es2022',
  write: false,
  legalComments: 'none',
  absWorkingDir: here,
  alias: { 'saltus-play': join(out, 'play.js') },
  define: { 'import.meta.url': '"file:///"' },
  external: ['fs', 'path', 'crypto', 'module'],
})).outputFiles[0].text;

/** The core in LZMA, by the Python that emscripten needs; read back by the reader of the page. */
async function packedCore() {
  const core = readFileSync(join(out, 'play.wasm'));
  const program = `import lzma, sys
filters = [{'id': lzma.FILTER_LZMA1, 'preset': 9 | lzma.PRESET_EXTREME, 'lc': 4, 'pb': 0}]
sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read(), lzma.FORMAT_ALONE, filters=filters))`;
  const stream = execFileSync('python3', ['-c', program], { input: core, maxBuffer: 1e8 });
  stream.writeBigUInt64LE(BigInt(core.length), 5);
  const { unlzma } = await import(`data:text/javascript,${encodeURIComponent(await compiled('lzma.ts', 'esm'))}`);
  if (!core.equals(unlzma(stream))) throw new Error('the core is not what its LZMA stream contains');
  return stream.toString('base64');
}

const topics = [
  ['Machines', /^machine-/], ['Linkages and rotors', /^bod(y|ies)-/], ['Shapes and piles', /^(shapes\/|contact-|spheres|dominoes)/],
  ['Elastic beams', /^flexible-/], ['By formulas', /./],
];
const topicOf = (name) => topics.find(([, pattern]) => pattern.test(name))[0];
const scenes = ['scenes', 'scenes/shapes'].flatMap((folder) =>
  readdirSync(join(here, '..', folder))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => ({ name: `${folder.slice(7)}${folder.length > 7 ? '/' : ''}${name.replace('.yaml', '')}`.replace(/^\//, ''), text: readFileSync(join(here, '..', folder, name), 'utf8') }))
    // scenes that read other files cannot be played
    .filter(({ text }) => !/^\s*file:|\bfile:/m.test(text)),
).map((scene) => ({ ...scene, topic: topicOf(scene.name), title: /^name: *"?([^"\n]*)"?$/m.exec(scene.text)?.[1] ?? scene.name }))
  .sort((a, b) => topics.findIndex(([topic]) => topic === a.topic) - topics.findIndex(([topic]) => topic === b.topic) || a.title.localeCompare(b.title));
/** The start of the woodpecker's run, which is shown while the core is prepared. */
async function firstDocument() {
  Object.assign(globalThis, { __dirname: out, require: createRequire(import.meta.url) }); // play.js expects them in node
  const { default: createPlay } = await import(pathToFileURL(join(out, 'play.js')).href);
  const play = await createPlay({ wasmBinary: readFileSync(join(out, 'play.wasm')), onProgress: () => undefined });
  const text = scenes.find((scene) => scene.name === 'woodpecker').text;
  const types = ['string', 'string', 'string', 'number', 'number', 'number'];
  const result = play.ccall('play_run', 'number', types, [text, '', '', 1e-8, 0, 0.06]);
  const [count, place] = ['play_bytes', 'play_document'].map((name) => play.ccall(name, 'number', ['number'], [result]));
  if (count === 0) throw new Error('the first run failed');
  return Buffer.from(play.HEAPU8.slice(place, place + count));
}

const script = await bundle('playground.ts');
const css = style();
const policy = [
  "default-src 'none'", `script-src ${hash(script)} 'wasm-unsafe-eval'`, `style-src ${hash(css)}`, 'img-src blob: data:', 'media-src blob:',
  'worker-src blob:', "connect-src 'none'", "base-uri 'none'", "form-action 'none'",
].join('; ');
const data = (id, text) => `<script type="application/octet-stream" id="${id}">${text}</script>\n`;
const page = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="generator" content="Saltus; contains ${licences()}, libfyaml 0.7.12 (MIT)">
${licenceTexts()}
<title>Saltus playground</title><style>${css}</style></head><body><main id="saltus"><noscript>The playground needs JavaScript.</noscript></main>
${data('saltus-wasm', await packedCore())}${data('saltus-scenes', packed(Buffer.from(JSON.stringify(scenes))))}${data('saltus-first', packed(await firstDocument()))}${data('saltus-worker', packed(Buffer.from(await compiled('worker.ts', 'iife'))))}<script>${script}</script></body></html>
`;
writeFileSync(join(out, 'playground.html'), page);
console.log(`-- page ${(page.length / 1e6).toFixed(2)} MB, gzip ${(gzipSync(page).length / 1e6).toFixed(2)} MB, ${scenes.length} scenes`);
