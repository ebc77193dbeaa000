#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Reference of the C interface from the comments of the public headers, one Markdown page for each header.

A comment belongs to the declarations below it, up to the next empty line. Functions, types, macros and constants are
listed with their declarations; functions also with a table of parameters and the first call in examples/.

usage: reference.py [HEADER ...]        prints the pages, for a look at them
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADERS = ROOT / 'include' / 'saltus'
FUNCTION = re.compile(r'SALTUS_API\s+(.*?)\b(saltus_\w+)\(((?:[^()]|\([^()]*\))*)\)[^;]*;', re.S)
TYPE = re.compile(r'\b(saltus_\w+)\b')


class Item:
    """A declaration: kind (function, type, macro), name, text, comment above it, comment behind it."""

    def __init__(self, kind, name, code, comment, line):
        self.kind, self.name, self.code, self.comment, self.line = kind, name, code, comment, line
        behind = re.search(r';\s*/\*(.*?)\*/\s*$', code, re.S) if kind == 'function' else None
        self.behind = words(behind.group(1)) if behind else ''

    def description(self):
        """Text of the comments; names of the conventions of docs/c-interface.md describe themselves."""
        text = ' '.join(t for t in (self.comment, self.behind) if t)
        if self.kind == 'function' and self.name.endswith('_destroy'):
            return 'Frees the object and all that it owns; NULL has no effect.'
        if not text and self.name.endswith('_default'):
            return 'All members with their defaults.'
        return text


def words(comment):
    """A comment without its stars; empty and indented lines stay."""
    return '\n'.join(re.sub(r'^\s*\* ?', '', line) for line in comment.strip().split('\n')).strip()


def paragraphs(text):
    """Paragraphs of a header without guards and includes, each with its line."""
    start = text.find('*/') + 2
    depth, begin, out, line = 0, None, [], text.count('\n', 0, start) + 1
    for row in text[start:].split('\n'):
        opened = depth
        depth += row.count('{') - row.count('}')
        if row.strip() == '' and opened == 0:
            if begin is not None:
                out.append((begin, '\n'.join(rows)))
            begin = None
        else:
            if begin is None:
                begin, rows = line, []
            rows.append(row)
        line += 1
    return out


def head(text):
    """Brief and the rest of the comment at the top of a header."""
    comment = words(re.match(r'/\*(.*?)\*/', text, re.S).group(1))
    comment = re.sub(r'^.*?SPDX-FileCopyrightText:[^\n]*\n', '', comment, flags=re.S).strip('\n')
    found = re.match(r'[\w.]+ - (.*?)(?:\n\n(.*))?$', comment, re.S)
    return (re.sub(r'\s+', ' ', found.group(1)), found.group(2) or '') if found else (comment, '')


def declarations(rest):
    """Declarations of a paragraph, each with the comments directly above it."""
    at = 0
    pattern = re.compile(r'\s*((?:/\*.*?\*/\s*)*)((?:typedef\b|enum\b|struct\b|static inline\b|SALTUS_API\b|#define\b))', re.S)
    while True:
        found = pattern.match(rest, at)
        if not found:
            return
        begin = found.start(2)
        if found.group(2) == '#define':
            end = begin
            while rest[rest.find('\n', end) - 1:rest.find('\n', end)] == '\\':
                end = rest.find('\n', end) + 1
            end = rest.find('\n', end)
            end = len(rest) if end < 0 else end
        else:
            end, depth = begin, 0
            while end < len(rest) and not (depth == 0 and (rest[end] == ';' or (rest[end] == '}' and 'static inline' in rest[begin:end]))):
                if rest.startswith('/*', end):
                    end = rest.find('*/', end) + 1
                depth += (rest[end] == '{') - (rest[end] == '}')
                end += 1
                if depth == 0 and rest[end - 1] == '}' and found.group(2) == 'static inline':
                    end -= 1
                    break
            end += 1
            behind = re.match(r'[ \t]*/\*.*?\*/', rest[end:], re.S)
            end += behind.end() if behind else 0
        yield found.group(1), rest[begin:end], begin
        at = end


def items(text):
    """Declarations of a header. A comment at the top of a paragraph is that of all its declarations without their own."""
    out = []
    for line, paragraph in paragraphs(text):
        shared = ''
        for above, code, begin in declarations(paragraph):
            own = words(' '.join(re.findall(r'/\*(.*?)\*/', above, re.S))) if above else ''
            shared = own or shared
            function = FUNCTION.match(code)
            if function:
                kind, name = 'function', function.group(2)
            elif code.startswith('#define'):
                kind, name = 'macro', re.match(r'#define\s+(\w+)', code).group(1)
            elif code.startswith('static inline'):
                kind, name = 'function', re.search(r'(\w+)\(', code).group(1)
            else:
                named = re.findall(r'(\w+)\s*;\s*(?:/\*.*?\*/)?\s*$', code, re.S) or re.findall(r'\(\*\s*(\w+)\)', code) or ['constants']
                kind, name = 'type', named[0]
            out.append(Item(kind, name, code, shared, line + paragraph.count('\n', 0, begin)))
    return out


def is_guard(item):
    return item.kind == 'macro' and (item.name.endswith('_H') or item.code.count('\n') == 0 and len(item.code.split()) == 2)


def prose(text, links):
    """Markdown of a comment: indented lines are code, names of the interface are links."""
    out, code = [], False
    for line in text.split('\n'):
        indented = line.startswith('  ')
        if indented and not code and (not out or out[-1] == ''):
            out.append('```c')
            code = True
        elif code and not indented and line.strip():
            out.extend(['```', ''])
            code = False
        if code:
            out.append(line)
            continue
        line = line.replace('|', r'\|').replace('<', '&lt;').replace('*', r'\*').replace('[', r'\[').replace(']', r'\]').replace('_', r'\_')
        line = re.sub(r'`([^`]*)`', lambda m: '`' + m.group(1).replace('\\', '').replace('&lt;', '<') + '`', line)
        out.append(re.sub(r'\b(saltus(?:\\_\w+?)+)\b', lambda m: linked(m.group(1).replace('\\', ''), links), line))
    if code:
        out.append('```')
    out = [line for i, line in enumerate(out) if line != '' or i + 1 == len(out) or out[i + 1] != '```']
    return '\n'.join(out)


def linked(name, links):
    return f'[`{name}`]({links[name]})' if name in links else f'`{name}`'


def parameters(code, links):
    """Rows of a table: name, type."""
    inside = re.sub(r'/\*.*?\*/', '', FUNCTION.match(code).group(3), flags=re.S)
    rows = []
    for part in re.split(r',(?![^()]*\))', re.sub(r'\s+', ' ', inside)):
        found = re.match(r'(.*?)(\w+)((?:\[[^\]]*\])*)$', part.strip())
        if found and part.strip() != 'void':
            kind = (found.group(1).strip() + found.group(3)).strip()
            shown = TYPE.sub(lambda m: m.group(1), kind)
            target = next((links[n] for n in TYPE.findall(kind) if n in links), None)
            rows.append(f'| `{found.group(2)}` | ' + (f'[`{shown}`]({target})' if target else f'`{shown}`') + ' |')
    return rows


def example_of(name, known={}):
    """The first statement of examples/ that calls the function, with its file."""
    if not known:
        known.update({p.name: p.read_text() for p in sorted((ROOT / 'examples').glob('*.c'))})
    for file, text in known.items():
        found = re.search(rf'^[ \t]*[^\n;{{}}/*]*\b{name}\((?:[^;{{}}]|\{{[^{{}}]*\}})*[;{{]', text, re.M)
        if found:
            return file, re.sub(r'\n  ', '\n', found.group(0).strip('\n')).strip()
    return None


def prototype(code):
    """A declaration without export mark, attributes and comment."""
    code = re.sub(r';\s*/\*.*$', ';', code, flags=re.S)
    code = re.sub(r'\s*^#if.*?^#endif\s*', '', code, flags=re.S | re.M)
    lines = re.sub(r'^SALTUS_API ', '', code).split('\n')
    return '\n'.join([lines[0]] + [line[11:] if line.startswith(' ' * 11) else line for line in lines[1:]])


def function_page(item, links):
    out = [f'### {item.name}', '', '```c', prototype(item.code), '```', '',
           prose(item.description(), links), '']
    if item.code.startswith('SALTUS_API'):
        rows = parameters(item.code, links)
        if rows:
            out += ['| parameter | type |', '| --- | --- |', *rows, '']
    if re.match(r'SALTUS_API\s+saltus_status\b', item.code):
        errors = sorted(set(re.findall(r'SALTUS_(?:ERR|RETRY)_\w+', item.description())))
        out += ['Returns `SALTUS_OK`' + (', ' + ', '.join(f'`{e}`' for e in errors) if errors else ' or an error') +
                f' ({linked("saltus_status", links)}).', '']
    example = example_of(item.name)
    if example:
        out += [f'Example, from [examples/{example[0]}]({"../../examples/" + example[0]}):', '', '```c', example[1], '```', '']
    return out


def page(path, links):
    """Markdown of one header."""
    text = path.read_text()
    brief, rest = head(text)
    all_items = [i for i in items(text) if not is_guard(i)]
    here = {n: f'#{n}' if t.startswith(path.name) else t for n, t in ((n, t) for n, t in links.items())}
    for name, target in list(here.items()):
        if target.startswith(path.name + '#'):
            here[name] = target[len(path.name):]
    out = [f'# saltus/{path.name}', '', prose(brief[:1].upper() + brief[1:], here), '', '```c', f'#include <saltus/{path.name}>', '```', '',
           prose(rest, here), '']
    functions = [i for i in all_items if i.kind == 'function']
    others = [i for i in all_items if i.kind != 'function']
    if functions:
        out += ['## Functions', '']
        for item in functions:
            out += function_page(item, here)
    if others:
        out += ['## Types and constants', '']
        for item in others:
            out += [f'### {item.name}', ''] if item.name != 'constants' else []
            out += ([prose(item.comment, here), ''] if item.comment else []) + ['```c', item.code, '```', '']
    return '\n'.join(out) + '\n'


def headers():
    return sorted(HEADERS.glob('*.h'))


def link_table():
    """Name to file and anchor, of all functions and types."""
    return {i.name: f'{p.name}#{i.name}' for p in headers() for i in items(p.read_text()) if i.name.startswith('saltus_')}


def pages():
    links = link_table()
    return {p: page(p, links) for p in headers()}


def undescribed():
    """(path, line, name) of functions without a description."""
    return [(p, i.line, i.name) for p in headers() for i in items(p.read_text()) if i.kind == 'function' and not i.description()]


if __name__ == '__main__':
    made = pages()
    for path in [pathlib.Path(a).resolve() for a in sys.argv[1:]] or made:
        print(made[path])
