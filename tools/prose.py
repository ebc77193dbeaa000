#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Language of comments, messages, documents and commit subjects: terms of tools/terms.txt, width of prose.

usage: prose.py            prints what is left, by folder
       prose.py --show     every phrase with its place
       prose.py --wrap     breaks paragraphs of documents with lines above the width
"""
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ('src', 'include', 'cli', 'docs', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'python', 'viewer', 'tools', 'examples',
           'bench', 'book')
RATED = ('src', 'include', 'cli')
SELF = ('tools/terms.txt',)
SUFFIXES = ('.png', '.gif', '.svg', '.json', '.lock', '.csv', '.yaml')


def tracked(root=ROOT):
    """Files of the tree: those of git, or those of MANIFEST in a release archive."""
    names = subprocess.run([root / 'tools' / 'files', '*'], capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if (root / name).is_file()]


def read_terms(path=ROOT / 'tools' / 'terms.txt'):
    terms = {'phrases': [], 'files': {}, 'rates': [], 'except': [], 'allow': {}, 'allow-rate': {}, 'width': 0, 'allow-width': 0, 'allow-types': 0}
    for line in path.read_text().splitlines():
        word, _, rest = line.partition(' ')
        if not line or line.startswith('#'):
            continue
        if word == 'rate':
            limit, _, rule = rest.partition(' ')
            pattern, _, term = rule.rpartition(' -> ')
            terms['rates'].append((float(limit), pattern, term))
        elif word == 'except':
            terms['except'].append(rest)
        elif word == 'file':
            name, _, term = rest.partition(' -> ')
            terms['files'][name] = term
        elif word == 'allow':
            folder, count = rest.split()
            terms['allow'][folder] = int(count)
        elif word == 'allow-rate':
            number, _, pattern = rest.partition(' ')
            terms['allow-rate'][pattern] = float(number)
        elif word in ('width', 'allow-width', 'allow-types'):
            terms[word] = int(rest)
        else:
            pattern, _, term = line.rpartition(' -> ')
            terms['phrases'].append((re.compile(pattern, re.I), term))
    return terms


STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|/\*.*?\*/|//[^\n]*', re.S)


def prose_of(name, text):
    """(line, text) of comments and messages of sources and of prose of documents."""
    if name.endswith(('.c', '.h', '.ts', '.mjs', '.js')):
        for found in STRING_OR_COMMENT.finditer(text):
            part = found.group(0)
            see_header = 'SPDX' in part and len(part) < 205  # file.c - see file.h.
            if (part.startswith('/') and not see_header) or (part.startswith('"') and len(part.split()) >= 3):  # messages too
                yield text.count('\n', 0, found.start()) + 1, part.strip('/*"')
    elif name.endswith(('.py', '.sh', '.cmake', '.txt')) or '.' not in os.path.basename(name):
        for number, line in enumerate(text.split('\n'), 1):
            if '#' in line:
                yield number, line.split('#', 1)[1]
    elif name.endswith(('.md', '.rst')):
        code = False
        for number, line in enumerate(text.split('\n'), 1):
            if line.lstrip().startswith('```'):
                code = not code
            elif not code and not line.startswith('    '):
                yield number, re.sub(r'`[^`]*`|\$[^$]*\$', '', line)


def texts(terms, known=[]):
    """(file, line, prose) of all files that are checked."""
    if not known:
        known.extend(read_texts(terms))
    return known


def read_texts(terms):
    for name in tracked():
        if name.split('/')[0] not in FOLDERS or name in SELF or name.endswith(SUFFIXES):
            continue
        if any(name.startswith(folder + '/') for folder in terms['except']):
            continue
        try:
            text = (ROOT / name).read_text(encoding='utf-8')
        except UnicodeDecodeError:
            continue
        for number, prose in prose_of(name, text):
            yield name, number, prose


def phrases_left(terms):
    """(file, line, phrase, term) of phrases of the list."""
    any_of = re.compile('|'.join(f'(?:{pattern.pattern})' for pattern, _ in terms['phrases']), re.I)
    for name, number, prose in texts(terms):
        for pattern, term in terms['phrases'] if any_of.search(prose) else ():
            for found in pattern.finditer(prose):
                yield name, number + prose.count('\n', 0, found.start()), found.group(0), term


def rates(terms):
    """(pattern, term, limit, rate per 1000 words of comments)."""
    comments = ' '.join(prose for name, _, prose in texts(terms) if name.split('/')[0] in RATED)
    words = max(1, len(re.findall(r"[A-Za-z']+", comments)))
    return [(pattern, term, limit, 1000.0 * len(re.findall(pattern, comments, re.I)) / words) for limit, pattern, term in terms['rates']]


def is_prose(line):
    return not line.startswith(('|', '    ', '<', '#', '![', '$$')) and ' ' in line.strip()


def long_lines(terms):
    """(file, line, columns) of lines of prose in documents above the width."""
    for name in tracked():
        code = False
        for number, line in enumerate((ROOT / name).read_text().split('\n') if name.endswith('.md') else (), 1):
            if line.lstrip().startswith('```'):
                code = not code
            elif not code and len(line) > terms['width'] and is_prose(line):
                yield name, number, len(line)


def by_folder(hits):
    counts = {}
    for name, *_ in hits:
        folder = name.split('/')[0]
        counts[folder] = counts.get(folder, 0) + 1
    return counts


def check(report):
    """Calls report(text) for each fault."""
    terms = read_terms()
    hits = list(phrases_left(terms))
    for folder, count in sorted(by_folder(hits).items()):
        allowed = terms['allow'].get(folder, 0)
        if count > allowed:
            report(f'{folder}: {count} phrases of tools/terms.txt, allowed are {allowed}:')
            for name, line, phrase, term in hits:
                if folder in by_folder([(name,)]):
                    report(f'{name}:{line}: "{phrase}": {term}')
    for pattern, term, limit, rate in rates(terms):
        allowed = max(limit, terms['allow-rate'].get(pattern, 0.0))
        if rate > allowed:
            report(f'comments: {rate:.2f} per 1000 words match {pattern} ({term}), allowed are {allowed}')
    wide = list(long_lines(terms))
    if len(wide) > terms['allow-width']:
        report(f'{len(wide)} lines of prose above {terms["width"]} columns, allowed are {terms["allow-width"]} (tools/prose.py --wrap):')
        for name, line, columns in wide[:20]:
            report(f'{name}:{line}: {columns} columns')


def wrap(text, width):
    """Paragraphs and list items with a line above the width are broken again; tables, code and headings stay."""
    out, block, code = [], [], False

    def flush():
        if any(len(line) > width for line in block) and all('  ' != line[-2:] for line in block):
            indent = re.match(r' *(?:[*+-] |\d+\. )?', block[0]).group(0)
            joined = ' '.join([block[0][len(indent):].strip()] + [line.strip() for line in block[1:]])
            pieces = re.split(r'(`[^`]*`|\$[^$]*\$|\[[^\]]*\]\([^)]*\))', joined)  # not broken inside
            kept = ''.join(p.replace(' ', '\x00') if i % 2 and not p.startswith('[') else p for i, p in enumerate(pieces))
            lines = textwrap.wrap(kept, width, initial_indent=indent, subsequent_indent=' ' * len(indent),
                                  break_long_words=False, break_on_hyphens=False)
            if any(re.match(r'\s*(?:[*+-] |\d+\. |#|>|\|)', line) for line in lines[1:]):
                lines = block  # a line would begin as a list does
            out.extend(line.replace('\x00', ' ') for line in lines)
        else:
            out.extend(block)
        block.clear()

    for line in text.split('\n'):
        fence = line.lstrip().startswith('```')
        code = code != fence
        if code or fence or not line.strip() or re.match(r'\||#|<|!\[|>|    |\$\$|---', line):
            flush()
            out.append(line)
            continue
        if re.match(r' *(?:[*+-] |\d+\. )', line):
            flush()
        block.append(line)
    flush()
    return '\n'.join(out)


def main():
    terms = read_terms()
    if '--wrap' in sys.argv:
        for name in sorted({name for name, *_ in long_lines(terms)}):
            path = ROOT / name
            path.write_text(wrap(path.read_text(), terms['width']))
        return
    hits = list(phrases_left(terms))
    if '--show' in sys.argv:
        for name, line, phrase, term in hits:
            print(f'{name}:{line}: "{phrase}": {term}')
    for folder, count in sorted(by_folder(hits).items()):
        print(f'allow {folder} {count}')
    for pattern, term, limit, rate in rates(terms):
        print(f'allow-rate {rate:.2f} {pattern}' if rate > limit else f'# {rate:.2f} per 1000 words: {term}')
    print(f'allow-width {len(list(long_lines(terms)))}')


if __name__ == '__main__':
    main()
