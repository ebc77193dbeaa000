#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Makes the documentation site of docs/, of the public headers, of the book (build/book, when it is there) and of figures, and
checks it: every link and anchor leads somewhere, nothing is fetched from elsewhere, every formula became MathML.

usage: build.py [OUTPUT]        default build/docs; needs pandoc
"""
import concurrent.futures
import html
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import reference

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build' / 'docs').resolve()
BOOK = ROOT / 'build' / 'book'
FIGURES = ROOT / 'build' / 'figures'
TEMPLATE = (HERE / 'page.html').read_text()
faults = []


class Page:
    def __init__(self, source, target, reader, text=None):
        self.source = source  # Markdown, or a header
        self.target = target  # in the site, from its root
        self.reader = reader
        self.text = source.read_text() if text is None else text  # Markdown
        found = re.search(r'^# +(.*?)(?: *\{.*\})? *$', self.text, re.M)
        self.title = plain(found.group(1)) if found else source.stem


def plain(markdown):
    text = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', markdown)
    return re.sub(r'[`*]', '', text).strip()


def collect():
    pages = []
    for source in sorted((ROOT / 'docs').rglob('*.md')):
        pages.append(Page(source, source.relative_to(ROOT / 'docs').with_suffix('.html'), 'gfm+tex_math_dollars'))
    for name in ('CONTRIBUTING', 'CHANGELOG'):
        pages.append(Page(ROOT / f'{name}.md', pathlib.Path(f'{name.lower()}.html'), 'gfm'))
    for source, text in reference.pages().items():
        pages.append(Page(source, pathlib.Path('reference') / f'{source.stem}.html', 'gfm', text))
    for source in sorted(BOOK.rglob('*.md')) if BOOK.exists() else []:
        pages.append(Page(source, pathlib.Path('book') / source.relative_to(BOOK).with_suffix('.html'), 'markdown'))
    return pages


def links_in(source):
    """Links of a page to other pages, in their order, with their words."""
    text = re.sub(r'^```.*?^```', '', source.read_text(), flags=re.S | re.M)
    for words, target in re.findall(r'\[([^]]*)\]\(([^)\s#]+\.md)\)', text):
        yield plain(words), (source.parent / target).resolve()


def navigation(pages):
    """Groups of (words, page): the headings of docs/index.md, the theory, the book."""
    by_source = {p.source.resolve(): p for p in pages}
    groups = []
    seen = set()

    def add(group, words, source):
        page = by_source.get(source)
        if page is not None and page.target not in seen:
            seen.add(page.target)
            group.append((words, page))

    index = (ROOT / 'docs' / 'index.md')
    for title, body in re.findall(r'^## (.*?)\n(.*?)(?=^## |\Z)', index.read_text(), re.S | re.M):
        group = []
        for words, target in re.findall(r'\[([^]]*)\]\(([^)\s#]+\.md)\)', body):
            if not target.startswith('theory/'):
                add(group, plain(words), (index.parent / target).resolve())
        if not groups:
            add(group, 'gallery', FIGURES / 'gallery.md')
        groups.append((title, group))
        if title == 'Schemes':
            theory = []
            add(theory, 'overview', (ROOT / 'docs' / 'theory' / 'index.md').resolve())
            for words, source in links_in(ROOT / 'docs' / 'theory' / 'index.md'):
                if source.parent.name == 'theory':
                    add(theory, words, source)
            groups.append(('Theory', theory))
    chapters = [p for p in pages if p.target.parts[0] == 'book']
    chapters.sort(key=lambda p: (p.target.stem != 'index', p.target.stem))
    if chapters:
        after = 1 + next(i for i, (title, _) in enumerate(groups) if title == 'Theory')
        groups.insert(after, ('Validation book', [(p.title, p) for p in chapters]))
    rest = [(p.title, p) for p in pages if p.target not in seen and p.target.parts[0] not in ('book', 'reference')
            and str(p.target) != 'index.html']
    if rest:
        groups[-1][1].extend(rest)
    return groups


def convert(page):
    run = subprocess.run(['pandoc', '-f', page.reader, '-t', 'html5', '--mathml', '--wrap=none'], input=page.text,
                         capture_output=True, text=True)
    return page, run.stdout, run.stderr.strip(), run.returncode


def relative(target, page):
    return os.path.relpath(target, page.target.parent)


def rewrite_link(target, page, pages, copies):
    """What a link of the Markdown is in the site; files that are no pages are copied."""
    if re.match(r'[a-z]+:', target) or target.startswith('#'):
        return target
    name, _, anchor = target.partition('#')
    source = (page.source.parent / html.unescape(name)).resolve()
    if source in pages:
        to = pages[source].target
    elif not source.exists():
        faults.append(f'{page.target}: links to {target}, which does not exist')
        return target
    else:
        base, folder = next((b, f) for b, f in ((BOOK, 'book'), (FIGURES, 'gallery'), (ROOT, 'files')) if source.is_relative_to(b))
        to = pathlib.Path(folder) / source.relative_to(base)
        copies[to] = source
    return relative(to, page) + (f'#{anchor}' if anchor else '')


MATH = 'http://www.w3.org/1998/Math/MathML'
TALL = {f'{{{MATH}}}{name}' for name in ('mfrac', 'munder', 'munderover', 'mtable', 'msqrt')}
xml.etree.ElementTree.register_namespace('', MATH)


def polish_formula(text):
    """Brackets grow only around something tall, not around an index; words are set upright, as one piece."""
    # combining accents hang beside a letter of an operator of their own; those that stand alone are centred over it
    text = text.replace('\u0308', '\u00a8').replace('\u0307', '\u02d9').replace('&nbsp;', '\u00a0')
    tree = xml.etree.ElementTree.fromstring(text)
    for style in [e for e in tree.iter(f'{{{MATH}}}mstyle') if e.get('mathvariant') == 'normal']:
        word = ''.join(style.itertext())
        style.clear()
        style.tag, style.text = f'{{{MATH}}}mtext', word
    for row in tree.iter(f'{{{MATH}}}mrow'):
        if not any(e.tag in TALL for e in row.iter()):
            for child in row:
                if child.get('stretchy') == 'true':
                    child.set('stretchy', 'false')
    return xml.etree.ElementTree.tostring(tree, encoding='unicode')


def polish(body, page, pages, copies):
    body = re.sub(r'<math.*?</math>', lambda m: polish_formula(m[0]), body, flags=re.S)
    body = re.sub(r'\b(href|src)="([^"]*)"',
                  lambda m: f'{m[1]}="{rewrite_link(m[2], page, pages, copies)}"', body)
    body = re.sub(r'<colgroup>.*?</colgroup>\s*|(?<=<table) style="width:[^"]*"', '', body, flags=re.S)  # browsers know better
    body = re.sub(r'<table.*?</table>', lambda m: f'<div class="scroll">{m[0]}</div>', body, flags=re.S)
    return re.sub(r'<(h[1-4]) id="([^"]*)"([^>]*)>(.*?)</\1>',
                  lambda m: f'<{m[1]} id="{m[2]}"{m[3]}>{m[4]}<a class="at" href="#{m[2]}" aria-label="Link">#</a></{m[1]}>',
                  body, flags=re.S)


def toc(body):
    items = []
    for level, name, words in re.findall(r'<h([23]) id="([^"]*)"[^>]*>(.*?)<a class="at"', body, re.S):
        items.append(f'<li{" class=sub" if level == "3" else ""}><a href="#{name}">{re.sub(r"<(?!/?(?:code|math|m[a-z]+)).*?>", "", words)}</a></li>')
    return f'<ul>{"".join(items)}</ul>' if len(items) > 1 else ''


def text_of(fragment):
    fragment = re.sub(r'<math.*?</math>', ' … ', fragment, flags=re.S)
    return re.sub(r'\s+', ' ', html.unescape(re.sub(r'<[^>]*>', ' ', fragment))).strip()


def index_of(body, page):
    """One entry for each section: address, page, heading, text."""
    parts = re.split(r'(?=<h[1-4] id=)', body)
    folder = {'theory': 'Theory: ', 'book': 'Book: ', 'solvers': 'Solver: ', 'tutorials': 'Tutorial: ', 'reference': 'C: '}
    title = folder.get(page.target.parts[0] if len(page.target.parts) > 1 else '', '') + page.title
    for part in parts:
        head = re.match(r'<h([1-4]) id="([^"]*)"[^>]*>(.*?)<a class="at".*?</h\1>', part, re.S)
        if head is None:
            continue
        top = head.group(1) == '1'
        address = str(page.target) + ('' if top else f'#{head.group(2)}')
        yield [address, title, '' if top else text_of(head.group(3)), text_of(part[head.end():])]


def write_page(page, body, groups, note):
    root = '../' * (len(page.target.parts) - 1)
    nav = []
    for title, group in groups:
        items = ''.join(f'<li><a{" class=here" if p is page else ""} href="{relative(p.target, page)}">{html.escape(words)}</a></li>'
                        for words, p in group)
        nav.append(f'<h2>{html.escape(title)}</h2><ul>{items}</ul>')
    text = TEMPLATE
    title = page.title if page.title.startswith('Saltus') else f'{page.title} · Saltus'
    for key, value in (('TITLE', html.escape(title)), ('ROOT', root), ('NAV', '\n'.join(nav)),
                       ('TOC', toc(body)), ('FOOT', note), ('BODY', body)):
        text = text.replace(f'@{key}@', value)
    path = OUT / page.target
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Reader(html.parser.HTMLParser):
    """Identifiers of a page and what it refers to."""

    def __init__(self):
        super().__init__()
        self.ids = set()
        self.twice = set()
        self.links = []
        self.loaded = []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        name = values.get('id')
        if name:
            (self.twice if name in self.ids else self.ids).add(name)
        if tag == 'a' and values.get('href'):
            self.links.append(values['href'])
        for key in ('src',) + (('href',) if tag == 'link' else ()):
            if values.get(key):
                self.loaded.append(values[key])


def check():
    read = {}
    for path in OUT.rglob('*.html'):
        reader = Reader()
        reader.feed(path.read_text())
        read[path] = reader
    links = 0
    for path, reader in read.items():
        name = path.relative_to(OUT)
        faults.extend(f'{name}: two elements have the id {i}' for i in sorted(reader.twice))
        faults.extend(f'{name}: loads {x} from elsewhere' for x in reader.loaded if re.match(r'[a-z]+:|//', x) and
                      not x.startswith('data:'))
        for target in reader.links + [x for x in reader.loaded if not re.match(r'[a-z]+:', x)]:
            if re.match(r'[a-z]+:', target):
                continue
            links += 1
            file, _, anchor = target.partition('#')
            to = (path.parent / file.partition('?')[0]).resolve() if file else path
            if not to.exists():
                faults.append(f'{name}: {target} does not exist')
            elif anchor and to in read and anchor not in read[to].ids:
                faults.append(f'{name}: {target} has no such place')
    return len(read), links


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    pages = collect()
    gallery = FIGURES / 'gallery.md'
    if gallery.exists():
        pages.append(Page(gallery, pathlib.Path('gallery.html'), 'markdown'))
    by_source = {p.source.resolve(): p for p in pages}
    groups = navigation(pages)
    copies = {}
    index = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for page, body, messages, code in pool.map(convert, pages):
            if code != 0 or messages:
                faults.append(f'{page.target}: pandoc: {messages}')
            body = polish(body, page, by_source, copies)
            index.extend(index_of(body, page))
            note = f'Made from {page.source.relative_to(ROOT)}.'
            write_page(page, body, groups, note)
    for to, source in copies.items():
        (OUT / to).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, OUT / to)
    for name in ('site.css', 'site.js'):
        shutil.copyfile(HERE / name, OUT / name)
    (OUT / 'search-index.js').write_text('window.saltusSearchIndex = ' + json.dumps(index, ensure_ascii=False) + ';\n')
    count, links = check()
    print('\n'.join(faults[:50]))
    print(f'{count} pages, {links} links, {len(index)} entries to search: {OUT / "index.html"}' if not faults else
          f'{len(faults)} faults')
    return 1 if faults else 0


sys.exit(main())
