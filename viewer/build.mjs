// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// node build.mjs OUT: bundles the viewer and writes OUT/report.html (the page with a mark where the document goes) and
// OUT/viewer_page.c (the same as a source of the library). The page allows its own script and style by their hashes and
// nothing else.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const MARK = '@DOCUMENT@';

export async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    write: false,
    legalComments: 'none',
    absWorkingDir: here,
  });
  const text = result.outputFiles[0].text;
  if (/<\/script|<!--/i.test(text)) throw new Error('the bundle would end its own script element');
  return text;
}

export function style() {
  const all = readFileSync(join(here, 'node_modules/uplot/dist/uPlot.min.css'), 'utf8') + readFileSync(join(here, 'src/style.css'), 'utf8');
  return all.replaceAll(/\n\s*/g, '\n');
}

export function hash(text) {
  return `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;
}

export function licences() {
  return ['three', 'uplot'].map((name) => {
    const about = JSON.parse(readFileSync(join(here, 'node_modules', name, 'package.json'), 'utf8'));
    return `${name} ${about.version} (${about.license})`;
  }).join(', ');
}

/** The texts under which three and uPlot may be passed on, as a comment for the head of a page. */
export function licenceTexts() {
  const texts = ['three', 'uplot'].map((name) => `${name}:\n${readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8').trim()}\n`);
  const text = texts.join('\n');
  if (text.includes('--')) throw new Error('a licence would end its comment');
  return `<!-- This page contains three.js and uPlot under these licences.\n\n${text}-->`;
}

async function report() {
  const script = await bundle('report.ts');
  const css = style();
  const policy = [
    "default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(css)}`, 'img-src blob: data:', 'media-src blob:',
    "connect-src 'none'", "base-uri 'none'", "form-action 'none'",
  ].join('; ');
  return `<!doctype html><!-- saltus report --><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="generator" content="Saltus; contains ${licences()}">
${licenceTexts()}
<title>Saltus</title><style>${css}</style></head><body><main id="saltus"><noscript>This report needs JavaScript.</noscript></main>
<script type="application/octet-stream" id="saltus-document">${MARK}</script>
<script>${script}</script></body></html>
`;
}

function array(name, text) {
  const bytes = Buffer.from(text, 'utf8');
  const lines = [];
  for (let i = 0; i < bytes.length; i += 400) lines.push(Array.from(bytes.subarray(i, i + 400)).join());
  return `static const unsigned char ${name}[] = {${lines.join(',\n')}};\n`;
}

function source(page) {
  const [before, behind] = page.split(MARK);
  return `/* Written by viewer/build.mjs. */\n#include "report/build.h"\n\n${array('before', before)}${array('behind', behind)}
static const saltusi_viewer_page page = {before, behind, sizeof before, sizeof behind};

const saltusi_viewer_page* saltusi_viewer(void) {
  return &page;
}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = process.argv[2] ?? join(here, 'dist');
  mkdirSync(out, { recursive: true });
  const page = await report();
  writeFileSync(join(out, 'report.html'), page);
  writeFileSync(join(out, 'viewer_page.c'), source(page));
}
