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

const host = document.getElementById('saltus');
const text = document.getElementById('saltus-document')?.textContent ?? '';
if (host !== null) {
  try {
    window.saltusViewer = new Viewer(host, fromBase64(text.trim()));
    document.title = `${window.saltusViewer.run.head.name} – Saltus`;
  } catch (error) {
    host.replaceChildren(el('p', { class: 'bad', role: 'alert' }, `The report cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
    throw error;
  }
}
