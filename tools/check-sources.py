#!/usr/bin/env python3
"""Checks that no compiler makes: sizes of files and functions, SPDX heads, assertions of entries, names of types, files and
links named in documents, cited sections, descriptions of public functions, terms and width of prose (tools/prose.py,
tools/terms.txt), and the form of commit subjects. Limits as in CONTRIBUTING.md. Without git the files are those of MANIFEST."""
import fnmatch
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'tools'), str(ROOT / 'tools' / 'site')]
import prose  # noqa: E402
import reference  # noqa: E402

FILE_LINES = {'src': 800, 'cli': 800, 'studies': 800, 'include': 300, 'examples': 80}
FUNCTION_LINES = 100
MOST_FUNCTIONS_LINES = 40  # 95 % of the functions of a folder are shorter
PARAMETERS = 7
MAY_BE_NULL = {'saltusi_contact_problem_create', 'saltusi_data_create'}  # the allocator, which goes on as it is
ENTRY = re.compile(r'^(?!static|typedef|#)[a-z][\w *]*?\b(\w+)\(([^;{}]*)\) \{\n(.*?)^\}', re.S | re.M)

faults = []
lengths = {}  # of functions, by folder of the tree


def fault(path, line, text):
    faults.append(f'{path.relative_to(ROOT)}:{line}: {text}')


FILES = prose.tracked()


def tracked(pattern):
    return [ROOT / name for name in FILES if fnmatch.fnmatchcase(name, pattern)]


def check_functions(path, lines):
    start = None
    head = ''
    for number, line in enumerate(lines, 1):
        if start is None:
            if line and not line[0].isspace() and line[0] not in '#/}*':
                head = line
                start = number if line.rstrip().endswith('{') and '(' in line else None
                opening = number
            elif head and line.startswith(' '):
                head += ' ' + line.strip()
                if line.rstrip().endswith('{') and '(' in head and '=' not in head:
                    start = opening
            if start is not None and ('=' in head.split('(')[0] or head.startswith(('typedef', 'enum', 'struct', 'static const struct'))):
                start = None
            if line.rstrip().endswith(';'):
                head = ''
        elif line.startswith('}'):
            lengths.setdefault(path.relative_to(ROOT).parts[0], []).append(number - start + 1)
            if number - start + 1 > FUNCTION_LINES:
                fault(path, start, f'function of {number - start + 1} lines, limit {FUNCTION_LINES}')
            inside = head[head.find('(') + 1:]
            given = head.startswith(('FMI_EXPORT(', 'FMI_CALLBACK('))  # by a standard
            if inside.count(',') + 1 > PARAMETERS and '(*' not in inside and not given:
                fault(path, start, f'{inside.count(",") + 1} parameters, limit {PARAMETERS}')
            start = None
            head = ''


def may_be_null(name, body):
    return re.search(rf'\b{name} [!=]= NULL|!{name}\b(?!->|\[)|if \({name}\)|\(void\){name}\b', body)


def check_entries(path, text):
    """Functions that others call assert what they take, unless each pointer may be NULL or is not used."""
    for found in ENTRY.finditer(text):
        name, parameters, body = found.groups()
        pointers = re.findall(r'(?:\*|\[\w*\]) ?(?:const )?(\w+)(?=[\[,]|$)|(\w+)\[', parameters)
        taken = [a or b for a, b in pointers]
        if 'assert(' in body or name in MAY_BE_NULL or all(may_be_null(p, body) for p in taken):
            continue
        fault(path, text.count('\n', 0, found.start()) + 1, f'{name} asserts nothing about {", ".join(taken)}')


TYPEDEF = re.compile(r'^typedef\s+(?:(?:struct|union|enum)\b[^;{]*\{(?:[^\n]*|.*?^)\}\s*(\w+)\s*;|[^;{]*\(\*\s*(\w+)\)|'
                     r'(?!struct|union|enum)[^;{(]*?\b(\w+)\s*;)', re.S | re.M)


def check_types():
    """No name of a type is defined in two files of src, also not by types of one file only; none is a term of the dialect."""
    defined = {}
    for path in tracked('src/*.c') + tracked('src/*.h'):
        text = re.sub(r'/\*.*?\*/', lambda m: re.sub(r'[^\n]', ' ', m.group(0)), path.read_text(), flags=re.S)
        for found in TYPEDEF.finditer(text):
            name = next(n for n in found.groups() if n)
            defined.setdefault(name, []).append((path, text.count('\n', 0, found.start()) + 1))
    named = {path.stem.removeprefix('test_'): path for folder in ('src', 'include', 'cli', 'python', 'tests')
             for path in tracked(folder + '/*') if path.suffix in ('.c', '.h')}
    for name, term in prose.read_terms()['files'].items():
        if name in named or f'saltusi_{name}' in defined:
            faults.append(f'{named.get(name, "src")}: {name} is a name of tools/terms.txt: {term}')
    twice = {name: places for name, places in defined.items() if len({path for path, _ in places}) > 1}
    allowed = prose.read_terms()['allow-types']
    if len(twice) > allowed:
        faults.append(f'src: {len(twice)} names of types are defined more than once, allowed are {allowed}:')
        for name, places in sorted(twice.items()):
            faults.append(f'{name}: ' + ', '.join(f'{path.relative_to(ROOT)}:{line}' for path, line in places))


INVARIANTS = 0.27  # part of the assertions of src that state more than that a pointer is not NULL; only ever raised


def check_invariants():
    stated = total = 0
    for path in tracked('src/*.c') + tracked('src/*.h'):
        for found in re.finditer(r'(?<!static_)(?<!\w)assert\(((?:[^()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*)\);', path.read_text()):
            parts = re.split(r'&&|\|\|', found.group(1))
            total += 1
            stated += any(not re.search(r'[!=]= NULL|^ *\(?\w+\)? *$', part) for part in parts)
    if stated < INVARIANTS * total:
        faults.append(f'src: {stated} of {total} assertions state an invariant, {100 * stated / total:.1f} %, floor {100 * INVARIANTS} %')


def check_reference():
    """Every public function has a description, and every header a line in docs/reference.md and in saltus.h."""
    for path, line, name in reference.undescribed():
        fault(path, line, f'{name} has no description')
    page = (ROOT / 'docs' / 'reference.md').read_text()
    tiers = (ROOT / 'include' / 'saltus' / 'saltus.h').read_text()
    for path in reference.headers():
        if path.name != 'saltus.h' and f'](../include/saltus/{path.name})' not in page:
            fault(path, 1, 'is not listed in docs/reference.md')
        if path.name != 'saltus.h' and (f'#include "saltus/{path.name}"' not in tiers or
                                        not re.search(rf'\b{re.escape(path.name)}\b', tiers.split('*/')[0])):
            fault(path, 1, 'is not listed and included in include/saltus/saltus.h')


CITED = re.compile(r'(docs/[\w./-]+\.md)(?:, (\d[\d.]*(?:(?:,| and| to) \d[\d.]*)*))?')
OUTSIDE = re.compile(r'\bpitfall|\b[Mm]ethods? notes\b|\bthe notes\b|\(notes\b|[(;":*/]\x00? ?methods(?:: \w|, (?:section|event|time|impact|\d))|'
                     r'(?:friction laws|contact geometry|event capturing|driven integration|contact solvers|time-DG), (?:section|T?\d)')


def sections_of(page):
    """Numbers of the headings of a page."""
    return {found.group(1) for found in (re.match(r'(\d+(?:\.\d+)*)\.?(?: |$)', h) for h in headings_of(page)) if found}


def check_citations(path, text):
    """Comments cite the documents of the project by page and section, both of which exist, and nothing outside of it."""
    joined = re.sub(r'\n[ ]*\* ?', lambda m: '\x00 ', text)  # one line for each comment; \x00 keeps the count of lines

    def line_of(at):
        return joined.count('\n', 0, at) + joined.count('\x00', 0, at) + 1

    plain = joined.replace('\x00', '')
    for found in OUTSIDE.finditer(joined):
        fault(path, line_of(found.start()), f'cites something outside of the project: {found.group(0).strip()}')
    starts = [i for i, c in enumerate(joined) if c != '\x00']
    for found in CITED.finditer(plain):
        at = line_of(starts[found.start()])
        page = ROOT / found.group(1)
        if not page.exists():
            fault(path, at, f'cites {found.group(1)}, which does not exist')
            continue
        for number in re.findall(r'\d+(?:\.\d+)*', found.group(2) or ''):
            if number not in sections_of(page):
                fault(path, at, f'cites section {number} of {found.group(1)}, which it does not have')
    if path.is_relative_to(ROOT / 'src' / 'adaptive'):
        page = ROOT / 'docs' / 'theory' / 'adaptive.md'
        for found in re.finditer(r'\(sections? ([\d.]+(?:(?:,| and| to) [\d.]+)*)', plain):
            for number in re.findall(r'\d+(?:\.\d+)*', found.group(1)):
                if number not in sections_of(page):
                    fault(path, line_of(starts[found.start()]), f'cites section {number}, which docs/theory/adaptive.md does not have')


REAL = re.compile(r'%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?L?[aAeEfFgG]')
BY_LOCALE = re.compile(r'\b(strtof|strtod|strtold|atof|vs?n?printf|vfprintf|s?n?printf|fprintf|sscanf|fscanf)\(')


def check_locale(path, text):
    """Numbers of the library are read and printed by base/number.h alone: the C library takes the separator of the locale."""
    for found in BY_LOCALE.finditer(text):
        name = found.group(1)
        end, depth = found.end(), 1
        while depth > 0:  # up to the parenthesis that closes the call; texts are skipped
            quoted = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'').match(text, end)
            depth += 0 if quoted else (text[end] == '(') - (text[end] == ')')
            end = quoted.end() if quoted else end + 1
        texts = ''.join(re.findall(r'"(?:[^"\\]|\\.)*"', text[found.start():end])).replace('%%', '')
        always = name.startswith(('strto', 'atof', 'v')) or (name.endswith('scanf') and re.search(r'%l?[aefg]', texts))
        if always or (name.endswith('printf') and REAL.search(texts)):
            fault(path, text.count('\n', 0, found.start()) + 1, f'{name} of a number depends on the locale; base/number.h')


def check_source(path):
    text = path.read_text()
    if path.is_relative_to(ROOT / 'src') and path.stem != 'number':
        check_locale(path, re.sub(r'/\*.*?\*/', lambda m: re.sub(r'[^\n]', ' ', m.group(0)), text, flags=re.S))
    check_citations(path, text)
    lines = text.splitlines()
    if not text.startswith('/* SPDX-License-Identifier: Apache-2.0\n * SPDX-FileCopyrightText: '):
        fault(path, 1, 'does not start with the two SPDX lines')
    limit = FILE_LINES.get(path.relative_to(ROOT).parts[0])
    if limit and len(lines) > limit:
        fault(path, len(lines), f'{len(lines)} lines, limit {limit}')
    check_functions(path, lines)
    if path.suffix == '.c' and path.relative_to(ROOT).parts[0] == 'src':
        check_entries(path, text)


def check_most_functions():
    for folder in ('src', 'cli'):
        ordered = sorted(lengths[folder])
        at = ordered[int(0.95 * len(ordered))]
        if at >= MOST_FUNCTIONS_LINES:
            faults.append(f'{folder}: 95 % of {len(ordered)} functions have up to {at} lines, '
                          f'limit below {MOST_FUNCTIONS_LINES}')


def check_layers():
    """The table of layers in docs/architecture.md is the USES of the folders."""
    page = ROOT / 'docs' / 'architecture.md'
    for path in tracked('src/*/CMakeLists.txt'):
        name = path.parent.name
        found = re.search(rf'saltus_layer\(\s*{name}\b(.*?)\)\s*$', path.read_text(), re.S | re.M)
        uses = re.search(r'USES\s+(.*?)(?:LINK|$)', found.group(1), re.S)
        row = f'| {name} | {", ".join(uses.group(1).split()) if uses else ""} |'
        if row not in page.read_text():
            fault(page, 1, f'has no line "{row}"')


def headings_of(path, known={}):
    """Titles of a page, without code blocks."""
    if path not in known:
        text = re.sub(r'^ *```.*?^ *```', '', path.read_text(), flags=re.S | re.M)
        known[path] = re.findall(r'^#+ +(.*?) *$', text, re.M)
    return known[path]


def anchors_of(path, known={}):
    """Anchors of a page as GitHub and pandoc make them from its titles."""
    if path not in known:
        seen = {}
        for title in headings_of(path):
            title = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', title)
            name = re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-')
            seen[name] = seen.get(name, -1) + 1
            if seen[name]:
                seen[f'{name}-{seen[name]}'] = 0
        known[path] = set(seen)
    return known[path]


def check_links(path):
    text = re.sub(r'^ *```.*?^ *```', lambda m: '\n' * m.group(0).count('\n'), path.read_text(), flags=re.S | re.M)
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r'\]\(([^)\s]+)\)', re.sub(r'`[^`]*`', '', line)):
            if re.match(r'[a-z]+:', target):
                continue
            name, _, anchor = target.partition('#')
            page = (path.parent / name).resolve() if name else path
            if not page.exists():
                fault(path, number, f'links to {target}, which does not exist')
            elif anchor and page.suffix == '.md' and anchor not in anchors_of(page):
                fault(path, number, f'links to {target}, which has no such heading')


def check_code(path):
    """C of the page of the C interface is C of the examples, which are compiled and run; "..." leaves something out."""
    examples = [re.sub(r'\s+', ' ', p.read_text()) for p in tracked('examples/*.c')]
    text = path.read_text()
    for block in re.finditer(r'^```c\n(.*?)^```', text, re.S | re.M):
        for piece in re.split(r'^\.\.\.\n', block.group(1), flags=re.M):
            if not any(re.sub(r'\s+', ' ', piece).strip() in e for e in examples):
                fault(path, text.count('\n', 0, block.start()) + 1, f'shows code that no example has: {piece.splitlines()[0]}')


def check_document(path):
    check_links(path)
    if path == ROOT / 'docs' / 'c-interface.md':
        check_code(path)
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for name in re.findall(r'`((?:src|cli|tests|tools|scenes|studies|bench|docs|examples|include|cmake|data)/[\w./-]+)`', line):
            if not (ROOT / name).exists():
                fault(path, number, f'names {name}, which does not exist')


def check_lists():
    """Every page of docs is in a list that readers start from; the site has its navigation from there."""
    listed = set()
    for start in (ROOT / 'docs' / 'index.md', ROOT / 'docs' / 'theory' / 'index.md'):
        listed |= {(start.parent / t).resolve() for t in re.findall(r'\]\(([^)#\s]+\.md)', start.read_text())} | {start}
    for page in tracked('docs/*.md'):
        if page not in listed:
            fault(page, 1, 'is not listed in docs/index.md (theory: docs/theory/index.md)')


SUBJECTS_SINCE = 'b297904'  # the first commit whose successors follow the rule
SUBJECT = re.compile(r'(?=.{1,72}$)[a-z0-9][\w ,./-]*: \S')


def check_subjects():
    """Commit subjects are "area: what changes" in at most 72 characters; without git, or without that commit, nothing is checked."""
    log = subprocess.run(['git', 'log', '--no-merges', '--format=%h %s', f'{SUBJECTS_SINCE}..HEAD'], cwd=ROOT, capture_output=True, text=True)
    phrases = prose.read_terms()['phrases']
    for line in log.stdout.splitlines() if log.returncode == 0 else []:
        commit, _, subject = line.partition(' ')
        faults.extend(f'commit {commit}: "{pattern.search(subject).group(0)}" in the subject: {term}' for pattern, term in phrases
                      if pattern.search(subject))
        if not SUBJECT.match(subject):
            faults.append(f'commit {commit}: subject is not "area: what changes" in at most 72 characters: {subject}')


for source in tracked('*.c') + tracked('*.h'):
    check_source(source)
check_most_functions()
check_types()
check_invariants()
check_reference()
prose.check(faults.append)
check_layers()
check_lists()
check_subjects()
for document in tracked('*.md'):
    check_document(document)
print('\n'.join(faults) if faults else 'sources and documents are in order')
sys.exit(1 if faults else 0)
