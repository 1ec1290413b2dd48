"""Explain an error of PyTorch's autograd: which mistake it is, why it happened, how to repair it.

    python explain.py < traceback.txt      explain a pasted traceback
    python explain.py traceback.txt        the same, from a file
    python explain.py train.py --epochs 3  run a script; explain its failure after the traceback
    python explain.py -m package.train     run a module in the same way

Everything it knows is in this file. It needs Python 3.8 or later and nothing else, reads no other
file and asks no server. With --json it prints the answer as data.

It takes the same steps as the site's lookup.mjs, in the same order and with the same numbers;
docs/lookup-algorithm.md specifies them.
"""

import contextlib
import json
import math
import os
import re
import sys
import textwrap
import traceback
import types

TABLES = json.loads("@TABLES@")
CATALOGUE = json.loads("@CATALOGUE@")
SITE = "@SITE@"

HOLE = re.compile(r"<([a-z][a-z0-9_]*)>")
DROPPED = re.compile(r"[ \t\n'\"`*\\_-]+")
ANSI = re.compile(
    r"(?:\x1b|\u241b|\\x1[bB]|\\u001[bB]|\\033|\\e|\^\[)"
    r"(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,300}(?:\x07|\x1b\\)|[@-Z^_])"
)
BARE_COLOR = re.compile(r"\[[0-9]{1,2}(?:;[0-9]{1,3}){0,5}m")
RAISED = re.compile(
    r"([A-Za-z_][A-Za-z0-9_.]{0,80}(?:Error|Exception|Warning)|Warning)[ \t]*[:(][ \t]*\Z"
)
ANY_RAISED = re.compile(
    r"(?:^|[^A-Za-z0-9_.])"
    r"([A-Za-z_][A-Za-z0-9_.]{0,80}(?:Error|Exception|Warning)|Warning):[ \t]"
)


def compiled(pattern, flags=0):
    """Return *pattern*, which JavaScript reads too, with JavaScript's idea of letters."""
    return re.compile(pattern, flags | re.ASCII)


def lookup(text, catalogue=None):
    """Return at most five pages for *text*, best first, and how sure that is."""
    index = index_of(CATALOGUE if catalogue is None else catalogue)
    paste = read_paste(text)
    found = find_messages(paste, index)
    sure = confirmed(found, paste)
    if sure and not other_error_follows(sure[0], paste):
        return answer("match", match_results(sure, paste, index), "")
    if sure:
        near = nearest([as_near(match) for match in sure])
        return answer("near", near_results(near, paste, index), none_hint(paste))
    near = nearest([as_near(match) for match in found] + find_near(paste, index))
    if near:
        hint = TABLES["shared" if near[0].get("shared") else "notSure"]
        return answer("near", near_results(near, paste, index), hint)
    symptoms = find_symptoms(paste, index)
    if symptoms:
        return answer("near", near_results(symptoms, paste, index), TABLES["bySymptom"])
    return answer("none", [], none_hint(paste))


def answer(kind, results, hint):
    return {"kind": kind, "results": results[: TABLES["wantedResults"]], "hint": hint}


# -- 1. The paste: characters, lines, prefixes ----------------------------------------------------


class Line:
    """A line of a paste, or a piece of a very long one."""

    __slots__ = ("goes_on", "number", "raw", "squash", "text")

    def __init__(self, raw, goes_on, number):
        self.raw = raw
        self.goes_on = goes_on
        self.number = number
        self.text = None
        self.squash = None

    def stripped(self):
        """Return the line without quotation marks of mails, time stamps, ranks and the like."""
        if self.text is None:
            text = self.raw[PREFIXES.match(self.raw).end() :]
            if CLOSING_BAR.search(text):
                text = text.rstrip("│┃║ \t")
            self.text = text
        return self.text

    def squashed(self):
        if self.squash is None:
            self.squash = squash(self.stripped())
        return self.squash


class Paste:
    """What was pasted, without what terminals, browsers and loggers add."""

    def __init__(self, whole, lines):
        self.whole = whole
        self.lines = lines
        self.regions = {}


def read_paste(text):
    whole = clean("" if text is None else str(text))
    lines = []
    empty = 0
    for number, line in enumerate(whole.split("\n"), 1):
        empty = empty + 1 if line == "" else 0
        if empty > 2:
            continue
        for start, piece in pieces(line):
            lines.append(Line(piece, start > 0, number))
    return Paste(whole, by_rank(whole, lines))


def clean(text):
    """Return *text* with one kind of quote, dash, space and line end, and without markup."""
    if len(text) > TABLES["longestText"]:
        kept = TABLES["longestText"] - 100000
        text = text[:100000] + "\n" + text[len(text) - kept :]
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = ANSI.sub("", text)
    if "\\" in text:
        text = "\n".join(unescape(line) if "\\" in line else line for line in text.split("\n"))
    if "m" in text:
        text = BARE_COLOR.sub("", text)
    if "<" in text:
        text = TAG.sub(lambda tag: "\n" if BREAKING.match(tag[1]) else "", text)
    if "&" in text:
        text = ENTITY.sub(entity, ENTITY.sub(entity, text))
    return fold_all(text)


WINDOWS_PATH = re.compile(r"\\[^nrtux0\"'\\`]|[A-Za-z]:\\")
ESCAPED = re.compile(r"\\[\"']|(?:^|[^\\])\\n[^a-z0-9_]")


def unescape(line):
    """Undo the escapes of a string literal (repr, JSON); leave the paths of Windows alone."""
    if not WINDOWS_PATH.search(line) or ESCAPED.search(line):
        line = re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: character(int(code[1], 16)), line)
        line = re.sub(r"\\{1,8}n", lambda run: "\n" if len(run[0]) == 2 else run[0], line)
    line = re.sub(r"(?:\\{1,4}r)?\\{1,4}n(?![a-z0-9_])", "\n", line)
    return re.sub(r"\\{1,4}([\"'\[\]()*_])", r"\1", line)


def character(code):
    return chr(code) if code >= 32 and not 0xD800 <= code <= 0xDFFF else " "


FOLDS = {ord(one): to for to, several in TABLES["fold"].items() for one in several}
FOLDS.update({code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)})
FOLDS.update(dict.fromkeys([*range(9), *range(11, 32), 127], " "))
PLAIN = re.compile(r"[^\n\t -~]")


def fold_all(text):
    return text.translate(FOLDS) if PLAIN.search(text) else text


TAG = re.compile(r"</?(%s)(?:[ \t\n][^<>]{0,300})?/?>" % TABLES["tags"], re.IGNORECASE | re.ASCII)
BREAKING = re.compile(r"(?:%s)\Z" % TABLES["breakingTags"], re.IGNORECASE | re.ASCII)
ENTITY = re.compile(r"&(#[0-9]{1,5}|#[xX][0-9a-fA-F]{1,4}|[a-z]{2,6});")


def entity(found):
    name = found[1]
    if name[0] != "#":
        return TABLES["entities"].get(name, found[0])
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return character(code & 0xFFFF)


def pieces(line):
    """Cut a very long line where it has a space, so that no step works on more than a piece."""
    longest = TABLES["longestLine"]
    start = 0
    while len(line) - start > longest:
        end = line.rfind(" ", 0, start + longest + 1)
        if end <= start + longest / 2:
            end = start + longest
        yield start, line[start:end]
        start = end
    yield start, line[start:]


RANK = re.compile(
    r"[ \t]*(?:\[(?:rank|default|gpu|worker|node)?[ ]?([0-9]{1,5})(?:,[0-9]{1,5})?\]"
    r"(?:<std(?:err|out)>)?[ ]?:|\([A-Za-z_][A-Za-z0-9_.-]{0,60} pid=([0-9]{1,9})|([0-9]{1,4}): )"
)
ANY_RANK = re.compile(
    r"(?:^|\n)[ \t]*(?:\[[a-z]{0,7} ?[0-9]{1,5}(?:,[0-9]{1,5})?\]|\([A-Za-z_][^\n)]{0,80} pid="
    r"|[0-9]{1,4}: )"
)


def by_rank(whole, lines):
    """Put the lines of each rank together when several ranks wrote at the same time."""
    if not ANY_RANK.search(whole):
        return lines
    streams = {}
    current = ""
    for line in lines:
        rank = RANK.match(line.raw)
        if rank and not line.goes_on:
            current = rank[1] or rank[2] or rank[3]
        streams.setdefault(current, []).append(line)
    return [line for stream in streams.values() for line in stream]


PREFIXES = compiled("(?:%s){0,24}" % "|".join(TABLES["prefixes"]))
CLOSING_BAR = re.compile(r"[│┃║][ \t]*\Z")


def squash(text):
    """Return *text* in lower case, without what a wrapped or retyped text may lack or add."""
    return lower(DROPPED.sub("", text))


UPPER = re.compile(r"[A-Z]+")


def lower(text):
    if text.isascii():
        return text.lower()
    return UPPER.sub(lambda letters: letters[0].lower(), text)


# -- 2. The catalogue: templates and their key words ----------------------------------------------

INDEXES = []


class Template:
    """One wording of a message."""

    def __init__(self, page, error, message, patterns, releases, partial):
        self.page = page
        self.raises = str(error.get("raises") or "")
        self.message = message
        self.patterns = patterns
        self.releases = releases
        self.partial = partial
        split = HOLE.split(self.message)
        self.parts = split[0::2]
        self.holes = split[1::2]
        self.literals = [squash(fold_all(part)) for part in self.parts]
        self.literals[-1] = self.literals[-1].rstrip(".!?:;,")
        self.length = sum(len(literal) for literal in self.literals)
        self.lines = "".join(self.parts).count("\n")
        self.many = [
            bool(re.search(r"\n\s*\Z", before) or re.match(r"\s*\n", after))
            for before, after in zip(self.parts, self.parts[1:])  # noqa: B905  # new in 3.10
        ]
        together = " ".join(self.parts)
        self.words = words_of(fold_all(together))
        self.letters = letters(together)
        self.common = bool(COMMON.search(together))
        self.keys = []
        self.needed = 0


def first_stop(message):
    """Return where the first sentence that says enough ends, if more follow: hints change."""

    def size(text):
        return len(squash(fold_all(re.sub(r"<[a-z][a-z0-9_]*>", "", text))))

    for found in re.finditer(r"[.!?](?=[ \n])", message):
        if size(message[: found.end()]) >= 40:
            return found.end() if size(message[found.end() :]) >= 20 else 0
    return 0


class Index:
    """The catalogue, arranged for looking up."""

    def __init__(self, pages):
        self.pages = pages
        self.templates = []
        for number, page in enumerate(pages):
            for error in page.get("errors") or []:
                self.add(number, error, error, None)
                for former in error.get("formerly") or []:
                    self.add(number, error, former, former.get("releases") or "")
        self.most_lines = max([0] + [template.lines for template in self.templates])
        self.longest = max([0] + [template.length for template in self.templates])
        frequency = page_frequency(self.templates, lambda template: template.words)
        self.words = set()
        self.keys = {}
        for number, template in enumerate(self.templates):
            words = list(dict.fromkeys(template.words))
            self.words.update(word for word in words if word not in STOP_WORDS)
            template.keys = sorted(words, key=lambda word: frequency[word])[:4]
            template.needed = 2 if len(template.keys) > 2 else len(template.keys)
            for place, word in enumerate(template.keys):
                self.keys.setdefault(word, []).append(number * 4 + place)
        self.near = None
        self.symptoms = None

    def add(self, page, error, wording, releases):
        if not isinstance(wording.get("message"), str) or NEVER.search(wording["message"]):
            return
        message = wording["message"].strip()
        patterns = wording.get("patterns") or []
        self.templates.append(Template(page, error, message, patterns, releases, False))
        cut = first_stop(message)
        if cut:
            self.templates.append(Template(page, error, message[:cut], [], releases, True))


def index_of(catalogue):
    for known, index in INDEXES:
        if known is catalogue:
            return index
    pages = catalogue.get("pages") if isinstance(catalogue, dict) else None
    index = Index(pages if isinstance(pages, list) else [])
    INDEXES[:] = [*INDEXES[-3:], (catalogue, index)]
    return index


STOP_WORDS = set(TABLES["stopWords"].split(" "))
OWN = compiled(TABLES["own"], re.IGNORECASE)
COMMON = compiled(TABLES["common"])
NEVER = compiled(TABLES["never"])
WORD = re.compile(r"[A-Za-z]{3,}")


def words_of(text):
    return [word.lower() for word in WORD.findall(text)]


def page_frequency(templates, items_of):
    """Return on how many pages each item stands; *items_of* lists those of one template."""
    count = {}
    last = {}
    for template in templates:
        for item in items_of(template):
            if last.get(item) != template.page:
                last[item] = template.page
                count[item] = count.get(item, 0) + 1
    return count


# -- 3. Whole messages ----------------------------------------------------------------------------


def find_messages(paste, index):
    """Return every declared message in the paste, the last raised one first."""
    places = [
        (number, place) for number, found in candidates(paste, index).items() for place in found
    ]
    if len(places) > TABLES["mostPlaces"]:
        order = sorted(range(len(places)), key=lambda i: (-places[i][1]["to"], i))
        places = [places[i] for i in sorted(order[: TABLES["mostPlaces"]])]
    matches = []
    for number, place in places:
        matches += fit(index.templates[number], place, paste, index)
    matches = without_parts(matches)
    for match in matches:
        match["behind"] = match.get("rival") is True and not points_at(match, paste)
    return sorted(matches, key=later_first)


def confirmed(matches, paste):
    """Return as many of the matches as an answer can show whose declared pattern fits."""
    pages = set()
    sure = []
    for match in matches:
        if len(pages) == TABLES["wantedResults"]:
            break
        if match["sure"] and fits_pattern(match) and not is_common(match, paste):
            pages.add(match["page"]["id"])
            sure.append(match)
    return sure


ERROR_TAIL = re.compile(r"(?:Error|Exception)(?::|[ \t]*\Z)")
ERROR_LINE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,80}(?:Error|Exception)(?::|[ \t]*\Z)")


def other_error_follows(match, paste):
    """Return whether *match* is a warning behind which an error came that is not one of ours."""
    return match["template"].raises.endswith("Warning") and any(
        ERROR_TAIL.search(line.raw) and ERROR_LINE.match(line.stripped())
        for line in paste.lines[match["end"][0] + 1 :]
    )


def candidates(paste, index):
    """Return, by template, the few stretches of lines that hold its rarest words."""
    reach = TABLES["reach"]
    last = {}
    found = {}
    for i, line in enumerate(paste.lines):
        if len(line.raw) < 3:
            continue
        for word in dict.fromkeys(words_of(line.raw)):
            for slot in index.keys.get(word, ()):
                last[slot] = i
                number = slot >> 2
                template = index.templates[number]
                first = i
                hits = 0
                for k in range(len(template.keys)):
                    seen = last.get(number * 4 + k, -1000000)
                    if i - seen <= reach:
                        hits += 1
                        first = min(first, seen)
                if hits >= template.needed:
                    note(found, number, {"from": first, "to": i, "hits": hits})
    return found


def note(found, number, place):
    """Keep a template's three places with most of its words, of equal ones the later."""
    if number not in found:
        found[number] = [place]
        return
    places = found[number]
    latest = places[-1]
    if place["from"] <= latest["to"]:
        latest["to"] = place["to"]
        latest["hits"] = max(latest["hits"], place["hits"])
        if latest["to"] - latest["from"] > 40:
            latest["from"] = place["from"]
        return
    places.append(place)
    if len(places) > 3:
        places.remove(min(places, key=lambda one: one["hits"]))


def fit(template, place, paste, index):
    """Return the matches of one template around one place."""
    if template.length < 8:
        return []
    region = region_of(template, place, paste, index)
    text = region[0]
    first = next(i for i, literal in enumerate(template.literals) if literal)
    found = []
    start = 0
    for _ in range(40):
        at = text.find(template.literals[first], start)
        if at < 0:
            break
        start = at + 1
        spans = follow_holes(template, text, at, first)
        if spans is None:
            continue
        match = best_end(template, region, spans, first, paste, index)
        if match is not None:
            found.append(match)
            start = spans[-1][1]
    return found[-2:]


def best_end(template, region, spans, first, paste, index):
    """Return the match that *spans* make; let the last words come later if it ends there."""
    match = message_at(template, region, spans, first, paste, index)
    last = len(template.literals) - 1
    if match is None or match["sure"] or last == first:
        return match
    literal = template.literals[last]
    at = spans[-1][0]
    for _ in range(3 if literal else 0):
        following = region[0].find(literal, at + 1, at + 1 + TABLES["longestHole"])
        if following < 0:
            break
        at = following
        later = [*spans[:-1], (at, at + len(literal))]
        other = message_at(template, region, later, first, paste, index)
        if other is not None and other["sure"]:
            return other
    return match


def region_of(template, place, paste, index):
    """Return the squashed text of the lines around a place, and where each line begins in it."""
    many = any(template.many)
    key = (place["from"], place["to"], many)
    if key not in paste.regions:
        paste.regions[key] = make_region(place, many, paste, index)
    return paste.regions[key]


def make_region(place, many, paste, index):
    lines = paste.lines
    reach = TABLES["reach"] + index.most_lines
    limit = TABLES["afterMany" if many else "after"] + index.longest
    start = place["from"]
    size = 0
    while start > 0 and place["from"] - start < reach:
        size += len(lines[start - 1].raw)
        if size > TABLES["before"]:
            break
        start -= 1
    offsets = []
    parts = []
    size = 0
    for i in range(start, len(lines)):
        if i > place["to"] and (size > limit or (not many and i - place["to"] > reach)):
            break
        if size > TABLES["before"] + TABLES["after"] + limit:
            break
        squashed = lines[i].squashed()
        offsets.append(size)
        parts.append(squashed)
        size += len(squashed)
    return "".join(parts), start, offsets


def follow_holes(template, text, at, first):
    """Return where each literal lies, each as soon as possible after the one before it."""
    literals = template.literals
    spans = [(at, at + len(literals[first]))]
    for i in range(first + 1, len(literals)):
        end = spans[-1][1]
        if not literals[i]:
            spans.append((end, end))
            continue
        room = TABLES["afterMany"] if template.many[i - 1] else TABLES["longestHole"]
        following = text.find(literals[i], end, end + room + len(literals[i]))
        if following < 0:
            return None
        spans.append((following, following + len(literals[i])))
    return spans


STRAY = re.compile(r"\n[^\n]*\n[^\n]*\n|(?:Error|Exception|Warning): |File \"")
"""What no value of a hole holds: the hole ran into another line of the paste."""


def message_at(template, region, spans, first, paste, index):
    """Return the match that *spans* make, if a message begins and ends there."""
    lines = paste.lines
    last = len(template.literals) - 1
    begin = point_of(region, spans[0][0], paste, False)
    line = lines[begin[0]]
    values = []
    if first > 0:
        lead = leading_hole(line.stripped()[: begin[1]])
        if lead is None:
            return None
        values = [lead] + [""] * (first - 1)
        begin = (begin[0], begin[1] - len(lead))
    before = line.stripped()[: begin[1]]
    raised = RAISED.search(before.rstrip(SPACE + "\"'`"))
    sure = not template.partial and begins_message(before, line.goes_on)
    for i in range(first, last):
        start = point_of(region, spans[i - first][1], paste, True)
        if template.literals[i + 1] == "":
            values.append(tail_of(template, i, start, paste) if i + 1 == last else "")
        else:
            end = point_of(region, spans[i - first + 1][0], paste, False)
            value = text_between(start, end, paste)
            if not template.many[i] and STRAY.search(value):
                return None
            values.append(value)
    end = point_of(region, spans[-1][1], paste, True)
    if template.literals[last] and not ends_message(end, paste):
        sure = False
    if not sure and template.length < TABLES["shortest"]:
        return None
    fields = {name: tidy(value) for name, value in zip(template.holes, values)}  # noqa: B905
    split_neighbors(template, fields)
    text = filled(template, fields)
    match = {
        "template": template,
        "page": index.pages[template.page],
        "text": text,
        "fields": fields,
        "begin": begin,
        "end": end,
        "lineNumber": line.number,
        "endNumber": lines[end[0]].number,
        "otherType": False,
    }
    if raised and template.raises and not same_type(raised[1], template.raises):
        if template.length < 40:
            return None
        match["otherType"] = True
    match["sure"] = sure
    return match


def same_type(seen, declared):
    return seen.rpartition(".")[2] == declared.rpartition(".")[2]


SPACE = " \t\n"
MARKS = "'\"`*_-"
DROPS = set(SPACE + MARKS + "\\")


def point_of(region, position, paste, after):
    """Return the line and column of a squashed position; *after* a character, or before it."""
    _, start, offsets = region
    target = position - 1 if after else position
    low, high = 0, len(offsets) - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if offsets[middle] <= target:
            low = middle
        else:
            high = middle - 1
    text = paste.lines[start + low].stripped()
    left = target - offsets[low]
    column = 0
    while column < len(text):
        if text[column] not in DROPS:
            if left == 0:
                break
            left -= 1
        column += 1
    return start + low, column + 1 if after else column


LEADING = re.compile(r".*(?:Error|Exception|Warning)[ \t]*[:(][ \t]*[\"']?")


def leading_hole(before):
    """Return what stands before the first literal of a message that begins with a hole."""
    found = LEADING.match(before)
    message = before[found.end() :] if found else before
    text = message.lstrip()
    if text.strip() == "" or len(text) > 120:
        return None
    if message != before or re.match(r"[^ \t]+[ \t]*\Z", text):
        return text
    word = re.search(r"[^ \t:;,]+[ \t]*\Z", text)
    return word[0] if word else None


LEAD_IN = compiled("(?:^|[^a-z])" + TABLES["leadIn"])
GOES_ON = compiled(TABLES["goesOn"])


def begins_message(before, goes_on):
    """Return whether a message can begin after *before* on its line."""
    text = before.rstrip(SPACE + MARKS)
    if text == "":
        return not goes_on or before != ""
    if re.match(r"[ \t]+[\"'`]+\Z", before[len(text) :]):
        return True
    if not re.match(r"[A-Za-z0-9.]", text[-1]):
        return True
    if len(text) == len(before):
        return False
    if text[-1] == ".":
        return True
    return text.endswith(("Error", "Exception", "Warning")) or bool(LEAD_IN.search(lower(text)))


def ends_message(end, paste):
    """Return whether a message can end at *end*: what follows is no rest of its sentence."""
    rest = paste.lines[end[0]].stripped()[end[1] :]
    following = rest.lstrip(SPACE + "\"'`*_")
    if following == "":
        return True
    if not re.match(r"[A-Za-z0-9(]", following):
        return not re.match(r"[-=/\\+\[{<@#$%^&]", following) or rest != following
    if re.match(r"[A-Za-z0-9_]", rest):
        return False
    return bool(GOES_ON.search(following))


def tail_of(template, hole, start, paste):
    return without_stop(template, lines_from(template, hole, start, paste))


AFTER_STOP = re.compile(r"[\"'`*]{0,8}(?:[ \t\n]|\Z)")


def without_stop(template, text):
    """Cut *text*, the last hole, where the message has its punctuation mark: `<device>!`."""
    mark = template.parts[-1].strip()
    at = text.find(mark) if mark else -1
    while at > 0:
        if AFTER_STOP.match(text, at + len(mark)):
            return text[:at]
        at = text.find(mark, at + 1)
    return text


def lines_from(template, hole, start, paste):
    """Return the text of a hole that ends its message: the rest of the line, or several lines."""
    text = paste.lines[start[0]].stripped()[start[1] :]
    if template.many[hole]:
        for i in range(start[0] + 1, len(paste.lines)):
            if len(text) >= TABLES["longestTail"]:
                break
            following = paste.lines[i].stripped()
            if following.strip() == "" and text.strip() != "":
                break
            text += "\n" + following
    return text[: TABLES["longestTail"]]


def text_between(start, end, paste):
    lines = paste.lines
    if start[0] == end[0]:
        return lines[start[0]].stripped()[start[1] : end[1]]
    parts = [lines[start[0]].stripped()[start[1] :]]
    parts += [lines[i].stripped() for i in range(start[0] + 1, end[0])]
    parts.append(lines[end[0]].stripped()[: end[1]])
    return "\n".join(parts)


def tidy(value):
    return re.sub(r"[ \t\n]+", " ", value).strip(" `'\"")


def split_neighbors(template, fields):
    """Give each of two holes with nothing but a space or a quote between them its part."""
    for i in range(len(template.holes) - 1):
        if template.literals[i + 1] or i + 1 == len(template.literals) - 1:
            continue
        one, two = template.holes[i], template.holes[i + 1]
        whole = fields[two] if fields[one] == "" else fields[one]
        cut = re.search(r"[ '\"`_-]", whole)
        if cut:
            fields[one] = tidy(whole[: cut.start()])
            fields[two] = tidy(whole[cut.start() + 1 :])


def filled(template, fields):
    """Return the message as PyTorch wrote it: literals of the template, holes of the paste."""
    values = [fields[name] for name in template.holes] + [""]
    return "".join(part + value for part, value in zip(template.parts, values)).strip()  # noqa: B905


def fits_pattern(match):
    """Let the declared patterns have the last word. An empty hole (shape []) fits by itself."""
    template = match["template"]
    if any(match["fields"][name] == "" for name in template.holes):
        return True
    if len(match["text"]) > 4000 or not template.patterns:
        return True
    for pattern in template.patterns:
        regex = safe_regex(pattern)
        if regex is None or regex.search(match["text"]):
            return True
    return False


REGEXES = {}


def safe_regex(pattern):
    """Compile a pattern in JavaScript's syntax, or return None for one that cannot be."""
    if pattern not in REGEXES:
        python = re.sub(r"\(\?<([a-z])", r"(?P<\1", pattern)
        if python.endswith("$") and not python.endswith("\\$"):
            python = python[:-1] + r"\Z"
        flags = re.IGNORECASE if python.startswith("(?i)") else 0
        try:
            REGEXES[pattern] = compiled(python[4:] if flags else python, flags)
        except re.error:
            REGEXES[pattern] = None
    return REGEXES[pattern]


OWN_FRAMES = compiled(TABLES["ownFrames"])


def is_common(match, paste):
    """Return whether other code prints this message too and nothing here speaks of autograd."""
    if not match["template"].common or OWN.search(match["text"]):
        return False
    return not OWN_FRAMES.search(context_of(match["begin"][0], match["end"][0], paste))


def without_parts(matches):
    """Keep, of matches that share words, the one that describes them best: the longest."""
    for match in matches:
        match["from"] = match["begin"][0] * 10000 + match["begin"][1]
        match["to"] = match["end"][0] * 10000 + match["end"][1]
    kept = []
    for match in sorted(matches, key=better_first):
        if all(
            match["to"] <= other["from"] or other["to"] <= match["from"] or rivals(match, other)
            for other in kept
        ):
            kept.append(match)
    return kept


def rivals(one, other):
    """Return whether two pages have the very same words, one perhaps in another release."""
    same = (
        one["page"] is not other["page"]
        and one["from"] == other["from"]
        and one["to"] == other["to"]
        and not one["template"].partial
        and one["template"].literals == other["template"].literals
    )
    if same:
        one["rival"] = other["rival"] = True
    return same


def points_at(match, paste):
    """Return whether *match* is of an owner's page, or of a cause that the frames point at."""
    if not match["page"].get("cause_of"):
        return True
    context = context_of(match["begin"][0], match["end"][0], paste)
    return evidence(match["page"], {}, context, False)[0] == POINTED_AT


def better_first(match):
    template = match["template"]
    return -template.length, template.partial, match["otherType"], template.releases is not None


def later_first(match):
    """Errors before warnings, then what was raised last."""
    return (
        not match["sure"],
        match["template"].raises.endswith("Warning"),
        -match["endNumber"],
        -match["end"][0],
        -match["end"][1],
        -match["template"].length,
        match["behind"],
        not match["page"].get("cause_of"),
    )


# -- 4. Nearly a message --------------------------------------------------------------------------


def nearest(entries):
    """Return the best entry of every page, best first."""
    best = {}
    for entry in entries:
        known = best.get(entry["page"]["id"])
        if known is None:
            best[entry["page"]["id"]] = entry
        else:
            known["score"] = max(known["score"], entry["score"])
    return sorted(best.values(), key=lambda entry: -entry["score"])


def as_near(match):
    return {
        "page": match["page"],
        "template": match["template"],
        "text": match["text"],
        "fields": match["fields"],
        "lineNumber": match["lineNumber"],
        "at": match["begin"][0],
        "holes": True,
        "shared": match["sure"] and match["template"].common,
        "score": 0.6 if match["template"].common else 0.7 if match["template"].partial else 0.79,
    }


def find_near(paste, index):
    """Return pages whose wording is close to a line of the paste, closest first."""
    if index.near is None:
        index.near = build_near(index)
    best = {}
    for line, text in near_windows(paste, index):
        plain = letters(text)
        own = OWN.search(text)
        for number, score in similar(text, index.near):
            template = index.templates[number]
            if not own and (template.common or not template.letters.startswith(plain)):
                score *= 0.7
            if template.common:
                score *= 0.85
            known = best.get(template.page)
            if known is not None and known["score"] >= score:
                continue
            best[template.page] = {
                "page": index.pages[template.page],
                "template": template,
                "text": text.strip(),
                "lineNumber": paste.lines[line].number,
                "at": line,
                "score": score,
            }
    found = sorted(best.values(), key=lambda entry: -entry["score"])
    if not found or found[0]["score"] < TABLES["nearScore"]:
        return []
    enough = max(found[0]["score"] * 0.75, TABLES["nearScore"] * 0.9)
    kept = [entry for entry in found if entry["score"] >= enough]
    for entry in kept:
        entry["fields"] = partial_fields(entry, paste)
    return kept


NO_LETTERS = re.compile(r"[^a-z]+")


def letters(text):
    return NO_LETTERS.sub("", lower(text))


def trigrams(text):
    return dict.fromkeys(text[i : i + 3] for i in range(len(text) - 2))


def weigh(total, frequency):
    return math.floor(100 * math.log(1 + total / frequency) + 0.5)


class Near:
    """The trigrams of every message and of each of its sentences, weighed by rarity."""

    def __init__(self, index):
        self.units = []
        for number, template in enumerate(index.templates):
            if template.partial:
                continue
            whole = " ".join(template.parts)
            self.add(number, whole, 12, template.letters)
            sentences = re.split(r"[.!?:][ \n]+", whole)
            if len(sentences) > 1:
                for sentence in sentences:
                    self.add(number, sentence, 24, template.letters)
        frequency = page_frequency(index.templates, lambda template: trigrams(template.letters))
        total = max(1, len(index.pages))
        self.weights = {one: weigh(total, pages) for one, pages in frequency.items()}
        self.postings = {}
        for number, unit in enumerate(self.units):
            for trigram in unit["trigrams"]:
                unit["weight"] += self.weights.get(trigram, 0)
                self.postings.setdefault(trigram, []).append(number)
        self.unknown = weigh(total, 2)

    def add(self, template, text, shortest, whole):
        plain = letters(text)
        if len(plain) >= shortest:
            self.units.append(
                {
                    "template": template,
                    "trigrams": trigrams(plain),
                    "size": len(plain),
                    "start": whole[:12],
                    "weight": 0,
                    "whole": plain == whole,
                }
            )


build_near = Near


FAR = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def similar(text, near):
    """Return the best score of every template that shares enough with *text*."""
    plain = letters(text)[:900]
    shared = {}
    own = 0
    for trigram in trigrams(plain):
        weight = near.weights.get(trigram)
        if weight is None:
            own += near.unknown
            continue
        own += weight
        for unit in near.postings.get(trigram, ()):
            shared[unit] = shared.get(unit, 0) + weight
    own += near.unknown * (len(FAR.findall(text)) // 2)
    found = {}
    whole = {}
    for number, weight in shared.items():
        unit = near.units[number]
        recall = weight / unit["weight"]
        precision = weight / own
        score = (2 * recall * precision) / (recall + precision)
        if unit["whole"]:
            whole[unit["template"]] = score
        if unit["size"] >= 30:
            score = max(score, recall * recall * 0.95)
        if len(plain) >= 12:
            enough = min(1, weight / 6000)
            score = max(score, precision * precision * (0.6 + 0.35 * enough))
        if plain.startswith(unit["start"]):
            score += 0.03
        if score >= 0.3 and found.get(unit["template"], 0) < score:
            found[unit["template"]] = score
    return [
        (template, min(score, 1) * 0.77 + whole.get(template, 0) * 0.02)
        for template, score in found.items()
    ]


CODE = re.compile(r"-+> ?[0-9]+|[0-9]+ {2,}")
FRAME = compiled(TABLES["frameLine"])
LOUD = re.compile(r"(?:Error|Exception|Warning)[\"'`]?[ \t]*[:(]|what\(\):")
VALUES = re.compile(
    r"'[^']{0,60}'|\"[^\"]{0,60}\"|<[^<>]{0,60}>|\[[^\[\]]{0,80}\]"
    r"|[A-Za-z_]{0,40}[0-9_.:](?=[A-Za-z0-9_])[A-Za-z0-9_.:]{0,80}|[A-Za-z]{1,40}[0-9]{1,9}"
    r"|[A-Za-z_]{0,40}Backward|[A-Z][a-z]{1,30}[A-Z][A-Za-z0-9]{1,60}"
)
"""What stands in holes: quoted and bracketed values, names with digits, dots or capitals inside."""


def near_windows(paste, index):
    """Return the lines that most resemble messages, each alone and with what may follow."""
    lines = paste.lines
    ranked = []
    seen = set()
    for i in range(len(lines) - 1, -1, -1):
        raw = lines[i].raw
        if len(raw) < 12:
            continue
        words = words_of(raw)
        weight = sum(1 for word in words if word in index.words)
        score = (3 if LOUD.search(raw) else 0) + weight / math.sqrt(len(words) + 4)
        if score < 0.35:
            continue
        if len(seen) < 20000:
            key = re.sub(r"[0-9]+", "0", raw)[:200]
            if key in seen:
                continue
            seen.add(key)
        ranked.append((-score, -i))
    windows = []
    read = 0
    for _, negative in sorted(ranked)[: TABLES["nearWindows"]]:
        if len(windows) >= TABLES["nearTexts"] or read >= TABLES["nearLetters"]:
            break
        i = -negative
        text = message_part(lines[i].stripped())
        if FRAME.search(text) or CODE.match(text):
            continue
        if (
            i > 0
            and re.match("File [\"']", lines[i - 1].stripped())
            and not re.search("Error|Exception|Warning", text)
        ):
            continue
        windows.append((i, text))
        plain = VALUES.sub(" ", text)
        if plain != text:
            windows.append((i, plain))
        for k in range(i + 1, min(len(lines), i + 5)):
            following = lines[k].stripped()
            if len(text) >= 600 or following.strip() == "" or FRAME.search(following):
                break
            text += " " + following
            windows.append((i, text))
        read += len(text)
        sentences = re.split(r"[.!?:;,][ \t]+", message_part(lines[i].stripped()))
        if len(sentences) > 1:
            windows += [(i, sentence) for sentence in sentences[:12] if len(sentence) > 24]
    return windows


def message_part(text):
    cut = 0
    for found in ANY_RAISED.finditer(text):
        cut = found.end()
    return text[cut:]


def partial_fields(entry, paste):
    """Return the holes that can still be read where a message is cut off or garbled."""
    template, at = entry["template"], entry["at"]
    text = " ".join(line.stripped() for line in paste.lines[at : at + 6])[:2000]
    fields = {}
    for i, name in enumerate(template.holes):
        before = template.parts[i][-10:]
        after = template.parts[i + 1][:4]
        if len(before.strip()) < 3 or after == "":
            continue
        start = text.find(before)
        if start < 0:
            continue
        end = text.find(after, start + len(before))
        if end < 0 or end - start > 120:
            continue
        fields[name] = tidy(text[start + len(before) : end])
    return fields


# -- 5. What the reader sees, without a message ---------------------------------------------------

CONCEPTS = [(name, compiled(pattern)) for name, pattern in TABLES["concepts"].items()]


def features(text):
    """Return the words, pairs of Chinese characters and concepts of *text*."""
    plain = lower(text)
    found = {":" + name: None for name, pattern in CONCEPTS if pattern.search(plain)}
    for word in re.findall(r"[a-z_][a-z0-9_]+", plain):
        if word not in STOP_WORDS:
            found[stem(word)] = None
    for run in re.findall("[\u3400-\u9fff]+", plain):
        for i in range(len(run) - 1):
            found[run[i : i + 2]] = None
    return found


def stem(word):
    return re.sub(r"(?:ing|ed|es|s)\Z", "", word) if len(word) > 4 else word


class Symptoms:
    """What every page says its reader sees."""

    def __init__(self, index):
        self.entries = []
        self.frequency = {}
        for number, page in enumerate(index.pages):
            weights = {}
            for key, weight in (("symptom", 3), ("symptom_zh", 3), ("title", 3), ("summary", 1)):
                if page.get(key):
                    for feature in features(str(page[key])):
                        weights[feature] = max(weights.get(feature, 0), weight)
            for feature in weights:
                self.frequency[feature] = self.frequency.get(feature, 0) + 1
            reports = min(page.get("reports") or 0, 20) + (
                20 if page.get("family") == "silent" else 0
            )
            self.entries.append((number, weights, bool(page.get("symptom")), reports * 0.001))
        self.total = max(1, len(index.pages))

    def weight(self, feature):
        return weigh(self.total, self.frequency.get(feature, 1)) * (3 if feature[0] == ":" else 1)


def find_symptoms(paste, index):
    """Return the pages whose symptom is what *paste* describes in words, closest first."""
    text = paste.whole.strip()
    if text == "" or len(text) > 1500 or looks_raised(text):
        return []
    if index.symptoms is None:
        index.symptoms = Symptoms(index)
    known = index.symptoms
    asked = features(text)
    own = 0
    for feature in asked:
        if feature in known.frequency:
            own += known.weight(feature)
        elif feature[0] != ":":
            own += weigh(known.total, 2) * 0.25
    found = []
    for number, weights, silent, first in known.entries:
        shared = 0
        concepts = 0
        for feature in asked:
            place = weights.get(feature)
            if place is None:
                continue
            if feature[0] == ":":
                concepts += 1
            shared += (known.weight(feature) * (place + 1)) / 4
        if concepts == 0 and shared < 300:
            continue
        score = shared / own if own else 0
        if not silent:
            score *= 0.9
        if len(paste.lines) > 3:
            score *= 0.6
        if score >= TABLES["symptomScore"]:
            found.append(
                {
                    "page": index.pages[number],
                    "template": None,
                    "text": text[:200],
                    "fields": {},
                    "lineNumber": 1,
                    "at": 0,
                    "score": score * 0.7 + first,
                }
            )
    return sorted(found, key=lambda entry: -entry["score"])[: TABLES["wantedResults"]]


RAISES = re.compile(
    r"Traceback \(most recent"
    r"|(?:^|[^A-Za-z])[A-Za-z_.]{0,80}(?:Error|Exception|Warning)\b[ \t]*[:(]"
    r"|(?:^|\n)[ \t]{0,8}(?:[a-z_][A-Za-z0-9_]{0,40}\.){1,6}[A-Z][A-Za-z0-9]{1,60}:[ \t]"
    r"|\bERROR: ",
    re.ASCII,
)


def looks_raised(text):
    return bool(RAISES.search(text))


# -- 6. Not ours ----------------------------------------------------------------------------------

ELSEWHERE = [(compiled(pattern), say) for pattern, say in TABLES["elsewhere"]]


def none_hint(paste):
    text = paste.whole.strip()
    if text == "":
        return ""
    end = text[-20000:]
    raised = [
        line for line in end.split("\n") if looks_raised(line) and not re.match(" *Traceback", line)
    ]
    parts = ["\n".join(raised[-3:]), end] if raised else [end]
    for part in parts:
        for pattern, say in ELSEWHERE:
            if pattern.search(part):
                return say
    return TABLES["notOurs" if raised else "noError"]


# -- 7. Results, causes and the reader's own numbers ----------------------------------------------


def match_results(matches, paste, index):
    results = []
    seen = set()
    for match in matches:
        if len(results) == TABLES["wantedResults"]:
            break
        if match["page"]["id"] in seen:
            continue
        seen.add(match["page"]["id"])
        context = context_of(match["begin"][0], match["end"][0], paste)
        results.append(result(match, True, rounded(1 - 0.02 * len(results)), context, index))
    for first in list(results):
        for cause in first["causes"]:
            if len(results) == TABLES["wantedResults"]:
                break
            if not cause["likely"] or cause["id"] in seen:
                continue
            seen.add(cause["id"])
            match = {
                "page": next(page for page in index.pages if page["id"] == cause["id"]),
                "template": None,
                "text": first["line"],
                "fields": first["fields"],
                "lineNumber": first["lineNumber"],
            }
            score = rounded(0.85 - 0.01 * len(results))
            results.append({**result(match, False, score, "", index), "why": cause["why"]})
    return results


def near_results(found, paste, index):
    results = []
    seen = set()
    for entry in found:
        if len(results) == TABLES["wantedResults"]:
            break
        if entry["page"]["id"] in seen:
            continue
        seen.add(entry["page"]["id"])
        context = context_of(entry["at"], entry["at"], paste)
        results.append(result(entry, False, rounded(entry["score"]), context, index))
    return results


def rounded(score):
    return math.floor(score * 1000 + 0.5) / 1000


def result(match, exact, score, context, index):
    page, template = match["page"], match["template"]
    return {
        "id": page["id"],
        "url": page["url"],
        "title": page["title"],
        "line": match["text"],
        "fields": match["fields"],
        "exact": exact,
        "score": score,
        "causes": rank_causes(page, match["fields"], context, exact or "holes" in match, index),
        "summary": page.get("summary") or "",
        "raises": template.raises if template else None,
        "releases": template.releases if template else None,
        "lineNumber": match["lineNumber"],
        "explanation": explain(match["fields"]),
        "fixes": page.get("fixes") or [],
    }


def context_of(begin, end, paste):
    """Return the lines around a message, as far as they can be frames of its traceback."""
    lines = paste.lines
    parts = []
    size = 0
    for i in range(end + 1, min(len(lines), end + 61)):
        if size >= 8000:
            break
        if CALL.search(lines[i].raw):
            continue
        parts.append(lines[i].raw[:300])
        size += len(parts[-1])
    earlier = []
    for i in range(begin, max(-1, begin - 400), -1):
        if size >= 40000:
            break
        if i != begin and CALL.search(lines[i].raw):
            continue
        part = before_message(lines[i]) if i == begin else lines[i].raw[:300]
        earlier.append(part)
        size += len(part)
    return "\n".join(earlier[::-1] + parts)


CALL = compiled(TABLES["call"])
"""How PyTorch calls any module: these frames say nothing about the mistake."""


def before_message(line):
    cut = re.search(r"[A-Za-z_.]{0,80}(?:Error|Exception|Warning)[ \t]*:", line.raw)
    return line.raw[: min(cut.start(), 300)] if cut else ""


POINTED_AT = 3


def rank_causes(page, fields, context, read, index):
    """Return the pages about single causes of *page*'s message.

    First those that the message's holes or the frames point at, then those that nothing speaks
    for or against, then the contradicted.
    """
    own = [
        other
        for other in index.pages
        if other.get("cause_of") == page["id"] and other["id"] != page["id"]
    ]
    ranked = [(*evidence(other, fields, context, read), other) for other in own]
    ranked.sort(key=lambda entry: (-entry[0], -entry[1]))
    causes = [
        {
            "id": cause["id"],
            "url": cause["url"],
            "title": cause["title"],
            "why": why or cause.get("summary") or TABLES["why"]["unsure"],
            "likely": tier == POINTED_AT,
            "causes": cause.get("causes") or [],
        }
        for tier, _, why, cause in ranked
    ]
    if not causes and not page.get("cause_of") and page.get("errors"):
        causes.append(
            {
                "id": page["id"],
                "url": page["url"],
                "title": page["title"],
                "why": TABLES["why"]["only"],
                "likely": False,
                "causes": page.get("causes") or [],
            }
        )
    return causes


def evidence(page, fields, context, read):
    """Return how far a page's `when` agrees: 3 wholly, 2 nothing speaks against it, 1 not."""
    holes = read and len(fields) > 0
    seen = unseen = against = 0
    why = []
    for name, pattern in (page.get("when") or {}).items():
        regex = safe_regex(str(pattern))
        if regex is None:
            continue
        if name == "frame":
            found = regex.search(context)
            if found and found[0]:
                seen += 1
                why.append(TABLES["why"]["frame"].replace("{value}", found[0][:60]))
            else:
                unseen += 1
            continue
        known = name in fields
        value = fields.get(name, "")
        if not known and not holes:
            unseen += 1
        elif regex.search(value) or regex.search(value.replace(" ", "")):
            seen += 1
            text = TABLES["why"]["hole" if value else "noHole"]
            why.append(
                text.replace("{name}", name.replace("_", " "), 1).replace("{value}", value, 1)
            )
        elif known:
            against += 1
        else:
            unseen += 1
    tier = 2
    if against > 0:
        tier = 1
    elif seen > 0 and unseen == 0:
        tier = POINTED_AT
    reports = page.get("reports") or 0
    return (
        tier,
        seen * 1000000 + reports,
        TABLES["why"]["intro"] + ", ".join(why) if tier == POINTED_AT else "",
    )


def explain(fields):
    """Return sentences that put the reader's own numbers into words."""
    say = TABLES["explain"]
    sentences = []

    def number(name):
        value = fields.get(name) or ""
        return int(value) if re.match(r"[0-9]{1,9}\Z", value) else None

    version, expected = number("version"), number("expected")
    if version is not None and expected is not None and version > expected:
        times = say["once"] if version - expected == 1 else put(say["many"], n=version - expected)
        sentences.append(put(say["writes"], version=version, expected=expected, times=times))
    node = fields.get("node") or ""
    shape = re.sub(r"^\[|\]\Z", "", fields["shape"]) if "shape" in fields else None
    sizes = re.match(r"([0-9]+), ?([0-9]+)\Z", shape or "")
    if re.match(r"(?:T|AsStrided)(?:Backward[0-9]*)?\Z", node) and sizes:
        sentences.append(put(say["transposed"], node=node, rows=sizes[1], columns=sizes[2]))
    elif node:
        sentences.append(put(say["copyslices" if "CopySlices" in node else "node"], node=node))
    index = number("output")
    if index is None and node:
        index = number("index")
    if index is not None:
        sentences.append(put(say["output"], index=index, ordinal=index + 1))
    kind = re.match(r"torch\.(cuda\.|)([A-Za-z0-9]+Tensor)\Z", fields.get("tensor_type") or "")
    if kind and kind[2] in TABLES["tensorTypes"]:
        dtype = TABLES["tensorTypes"][kind[2]]
        sentences.append(put(say["cuda" if kind[1] else "cpu"], tensor_type=kind[0], dtype=dtype))
    if shape == "" and kind:
        sentences.append(say["scalar"])
    elif re.match(r"[0-9][0-9, ]{0,60}\Z", shape or "") and not sizes:
        sentences.append(put(say["shape"], shape=shape))
    elif sizes and sentences and not re.match("T|AsStrided", node):
        sentences.append(put(say["shape"], shape=sizes[1] + ", " + sizes[2]))
    if index is None and number("index") is not None:
        sentences.append(put(say["index"], index=number("index"), ordinal=number("index") + 1))
    count = number("count")
    if count is not None and expected is not None:
        sentences.append(put(say["counts"], expected=expected, count=count))
    return sentences


def put(sentence, **values):
    return re.sub(r"\{([a-z_]+)\}", lambda name: str(values[name[1]]), sentence)


# -- The command ----------------------------------------------------------------------------------


def described(found):
    """Return an answer as lines for a terminal."""
    if not found["results"]:
        return found["hint"]
    first = found["results"][0]
    lines = [first["title"], "=" * len(first["title"])]
    if found["kind"] != "match":
        lines.append(found["hint"])
    lines += wrapped(first["summary"])
    if first["releases"]:
        lines += wrapped("This is the wording of PyTorch {}.".format(first["releases"]))
    for sentence in first["explanation"]:
        lines += wrapped(sentence, "  * ")
    likely = [cause for cause in first["causes"] if cause["likely"]]
    causes = likely or [cause for cause in first["causes"] if cause["id"] != first["id"]]
    if causes:
        lines += [
            "",
            ("Cause:" if len(likely) == 1 else "Likely causes:")
            if likely
            else "Its causes; the text alone cannot tell which:",
        ]
        for cause in causes[:3] if likely else causes[:8]:
            lines += wrapped("{}: {}".format(cause["title"], cause["why"]), "  * ")
            lines.append("    " + address(cause["url"]))
    fixes = page_of(likely[0]["id"]).get("fixes") if likely else first["fixes"]
    if fixes:
        lines += ["", "Fix:"]
        for fix in fixes[:3]:
            lines += wrapped(fix["title"], "  * ")
    lines += ["", "Page: " + address(first["url"])]
    others = [one for one in found["results"][1:] if "why" not in one]
    if others:
        lines += ["", "Also in this text:" if found["kind"] == "match" else "Or:"]
        lines += ["  * {}  {}".format(one["title"], address(one["url"])) for one in others]
    return "\n".join(lines)


def page_of(name):
    return next(page for page in CATALOGUE["pages"] if page["id"] == name)


def address(url):
    return SITE.rstrip("/") + "/" + url


def wrapped(text, bullet=""):
    return textwrap.wrap(text, 88, initial_indent=bullet, subsequent_indent=" " * len(bullet))


def show(text, as_data, stream):
    """Write the explanation of *text* to *stream*, whatever characters it can take."""
    if stream is None:  # closed before Python started
        return
    found = lookup(text)
    shown = json.dumps(found, ensure_ascii=True, indent=1) if as_data else described(found)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(shown.encode(encoding, "replace").decode(encoding) + "\n")


def run(arguments, as_data):
    """Run a script or a module as Python does; explain the exception that ends it."""
    is_module = arguments[0] == "-m"
    sys.argv = arguments[1:] if is_module else arguments
    module = types.ModuleType("__main__")
    try:
        if is_module:
            sys.path[0] = os.getcwd()
            import runpy

            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
            # Python 3.9 and later name the main script by its whole path
            path = arguments[0]
            module.__file__ = os.path.abspath(path) if sys.version_info >= (3, 9) else path
            module.__builtins__ = __builtins__
            sys.modules["__main__"] = module
            with open(path, "rb") as script:
                code = compile(script.read(), module.__file__, "exec")
            exec(code, module.__dict__)
    except KeyboardInterrupt:
        hook = sys.excepthook

        def own_frames_hidden(kind, error, frames):
            frames = without_own_frames(frames)
            hook(kind, error.with_traceback(frames), frames)

        sys.excepthook = own_frames_hidden
        raise
    except Exception as error:
        error.__traceback__ = without_own_frames(error.__traceback__)
        flush(sys.stdout)
        sys.excepthook(type(error), error, error.__traceback__)
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        with contextlib.suppress(AttributeError, OSError):  # perhaps nobody reads it
            sys.stderr.write("\n")
            show(text, as_data, sys.stderr)
            sys.stderr.flush()
        sys.exit(1)


def flush(stream):
    """Write out what *stream* still holds, if anyone reads it."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        stream.flush()


def without_own_frames(frames):
    """Return a traceback from the script's own first line on."""
    while frames is not None:
        name = frames.tb_frame.f_code.co_filename
        if name != __file__ and "runpy" not in name:
            break
        frames = frames.tb_next
    return frames


def main(arguments):
    """Do what the module's docstring says; return the exit status."""
    as_data = arguments[:1] == ["--json"]
    if as_data:
        arguments = arguments[1:]
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if arguments and (arguments[0] == "-m" or arguments[0].endswith(".py")):
        if arguments == ["-m"]:
            print("-m needs the name of a module.", file=sys.stderr)
            return 2
        if arguments[0] != "-m" and contents(arguments[0]) is None:
            return 2
        run(arguments, as_data)
        return 0
    if arguments and arguments[0] != "-":
        data = contents(arguments[0])
        if data is None:
            return 2
    elif sys.stdin is None:
        print("There is no input to read.", file=sys.stderr)
        return 2
    else:
        if sys.stdin.isatty():
            print("Paste the traceback, then press Ctrl-D (Windows: Ctrl-Z, Enter).")
        data = sys.stdin.buffer.read()
    try:
        show(decoded(data), as_data, sys.stdout)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # whoever reads has read enough; Python must not complain when it flushes at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def contents(path):
    """Return what a file holds, or say why that cannot be read and return None."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        print("Cannot read {}: {}".format(path, error.strerror), file=sys.stderr)
        return None


def decoded(data):
    """Return bytes as text; PowerShell redirects in UTF-16."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
