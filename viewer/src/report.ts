// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// The page of a report: reads the document that stands in it.

import { fromBase64 } from './document';
import { el } from './dom';
import { Viewer } from './viewer';

declare global {
  interface Window {
    saltusViewer?: Viewer;
  }
}

/** States of a live view (docs/python.md) as server-sent events, each a document with one state. */
function follow(viewer: Viewer, from: string): void {
  new EventSource(from).onmessage = (event: MessageEvent<string>) => viewer.follow(fromBase64(event.data));
}

const host = document.getElementById('saltus');
const text = document.getElementById('saltus-document')?.textContent ?? '';
if (host !== null) {
  try {
    window.saltusViewer = new Viewer(host, fromBase64(text.trim()));
    document.title = `${window.saltusViewer.run.head.name} – Saltus`;
    if (host.dataset.live !== undefined) follow(window.saltusViewer, host.dataset.live);
  } catch (error) {
    host.replaceChildren(el('p', { class: 'bad', role: 'alert' }, `The report cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
    throw error;
  }
}
