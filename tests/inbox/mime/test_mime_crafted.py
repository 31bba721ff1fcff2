"""Crafted mails, each with one fault of the world: none may raise, none may lose what can be read.

Where a reference value is given it must come out; what every mail must keep is checked for all of them.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from inbox.mime.parsing import parse
from inbox.mime.types import ParsedMail

FROM = b"From: Ann <ann@example.org>\r\n"
PLAIN = b"\r\nHello\r\n"


def head(*fields: bytes, body: bytes = PLAIN, sender: bytes = FROM) -> bytes:
    return sender + b"".join(field + b"\r\n" for field in fields) + body


def text(kind: bytes, body: bytes, encoding: bytes = b"8bit") -> bytes:
    return head(b"Content-Type: " + kind, b"Content-Transfer-Encoding: " + encoding, body=b"\r\n" + body)


def mixed(*parts: bytes, kind: bytes = b"mixed", end: bytes = b"--b--\r\n") -> bytes:
    return head(
        b"Content-Type: multipart/" + kind + b"; boundary=b",
        body=b"\r\n" + b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + end,
    )


def attached(*fields: bytes, kind: bytes = b"application/pdf") -> bytes:
    extra = b"".join(field + b"\r\n" for field in fields)
    return mixed(
        b"Content-Type: text/plain\r\n\r\nsee file", b"Content-Type: " + kind + b"\r\n" + extra + b"\r\n%PDF-1.4"
    )


def named(disposition: bytes) -> bytes:
    return attached(b"Content-Disposition: attachment; " + disposition)


def file(name: str | None) -> dict[str, Any]:
    return {"names": [name], "text": "see file"}


def subject(value: bytes, expected: str | None = None) -> tuple[bytes, dict[str, Any]]:
    return head(b"Subject: " + value), {} if expected is None else {"subject": expected}


def sender(value: bytes, address: str | None, **more: Any) -> tuple[bytes, dict[str, Any]]:
    return head(sender=b"From: " + value + b"\r\n"), {"address": address, **more}


def body(kind: bytes, data: bytes, expected: str, encoding: bytes = b"8bit") -> tuple[bytes, dict[str, Any]]:
    return text(kind, data, encoding), {"text": expected}


CASES: dict[str, tuple[bytes, dict[str, Any]]] = {
    # what the standard library raises on (seen with email.policy.default)
    "To is one quote": (head(b'To: "'), {"to": []}),
    "To is a comment and a colon": (head(b"To: (c):"), {"to": []}),
    "Content-Type parameter is a lone star": (text(b"text/plain; name*", b"Hello"), {"text": "Hello"}),
    "Message-ID in square brackets": (head(b"Message-ID: <[b1c2@microsoft.com]>"), {"message_id": "[b1c2@microsoft.com]"}),
    "charset unknown": body(b"text/plain; charset=x-made-up", "Grüße".encode(), "Grüße"),
    "charset zlib_codec": body(b"text/plain; charset=zlib_codec", b"Hello", "Hello"),
    "charset idna": body(b"text/plain; charset=idna", b"Hello", "Hello"),
    "charset unicode_escape": body(b"text/plain; charset=unicode_escape", rb"a\x00b", r"a\x00b"),
    "charset with NUL": body(b"text/plain; charset=utf\x00-8", "Grüße".encode(), "Grüße"),
    "nested comments": sender(b"(" * 200 + b"x" + b")" * 200 + b" <a@b.example>", "a@b.example"),
    # header injection and disguise
    "encoded CR LF in the subject": subject(b"=?utf-8?Q?a=0D=0ABcc:_evil?=", "a Bcc: evil"),
    "encoded NUL in the subject": subject(b"=?utf-8?Q?a=00b?=", "a b"),
    "encoded line separator": subject(b"=?utf-8?Q?a=E2=80=A8b?=", "a b"),
    "override in the subject": subject(b"=?utf-8?Q?a=E2=80=AEb?=", "ab"),
    "Hebrew subject survives": subject("שלום עולם".encode(), "שלום עולם"),
    "emoji subject": subject(b"=?utf-8?Q?=F0=9F=98=80_ok?=", "😀 ok"),
    "surrogate by UTF-7": subject(b"=?utf-7?Q?+2AA-?="),
    "surrogate pair by UTF-7 body": body(b"text/plain; charset=utf-7", b"+2D3eAA-!", "😀!"),
    "lone surrogate by UTF-7 body": (text(b"text/plain; charset=utf-7", b"+2AA-!"), {}),
    "CESU surrogate in UTF-8": (text(b"text/plain; charset=utf-8", b"\xed\xa0\x80 ok"), {}),
    "NUL in the body": body(b"text/plain", b"a\x00b", "ab"),
    "From with an encoded CR LF": sender(b"=?utf-8?Q?a=0D=0Ab?= <a@b.example>", "a@b.example", name="a b"),
    "override in the name": sender(b"=?utf-8?Q?=E2=80=AEnna?= <a@b.example>", "a@b.example", name="nna"),
    # ambiguous and missing senders
    "two addresses in brackets": sender(b"<ceo@corp.example> <x@evil.example>", "ceo@corp.example", ambiguous=True),
    "two addresses with comma": sender(b"a@b.example, c@d.example", "a@b.example", ambiguous=True),
    "address as name": sender(b'"ceo@corp.example" <x@evil.example>', "x@evil.example", ambiguous=True),
    "own address as name": sender(b'"a@b.example" <a@b.example>', "a@b.example", ambiguous=False),
    "two From fields": (head(sender=FROM + b"From: eve@evil.example\r\n"), {"address": "ann@example.org", "ambiguous": True}),
    "From empty brackets": sender(b"<>", None),
    "From without address": sender(b"Whomever", None),
    "From missing, Sender there": (head(b"Sender: s@example.org", sender=b""), {"address": "s@example.org"}),
    "From unusable, Return-Path there": (head(b"Return-Path: <r@example.org>", sender=b"From: <>\r\n"), {"address": "r@example.org"}),
    "nobody": (head(b"Subject: x", sender=b""), {"address": None, "subject": "x"}),
    "unbalanced quote": sender(b'"Ann <a@b.example>', "a@b.example"),
    "unbalanced bracket": sender(b"Ann <a@b.example", "a@b.example", name="Ann"),
    "a separator for a local part": (head(b"From: <\x1e@a.example>\r\nTo: <\x1c \x1f@a.example>, b@a.example"), {"to": ["b@a.example"]}),
    "comments inside the address": sender(b"Ann (her name) <ann(her box)@b.example(her host)>", "ann@b.example", name="Ann"),
    "nested comments inside the address": sender(b"<ann(her (old) box)@b.example>", "ann@b.example"),
    "escaped bracket in a comment": sender(b"Ann(a fine \\) friend) <ann@b.example>", "ann@b.example", name="Ann"),
    "escaped quote in a name": sender(b"Ann\\(e\\) <ann@b.example>", "ann@b.example", name="Ann(e)"),
    "backslash in a name": sender(b"HOUSE\\ann <ann@b.example>", "ann@b.example", name="HOUSE\\ann"),
    "quoted comment as name": sender(b'a@b.example ("Ann Example")', "a@b.example", name="Ann Example"),
    "comma missing between two": (
        head(b"To: Ann <a@b.example> Bob Example <b@b.example> <c@b.example>", sender=b"From: Ann <a@b.example> Bob <b@b.example>\r\n"),
        {"address": "a@b.example", "name": "Ann", "ambiguous": True, "to": ["a@b.example", "b@b.example", "c@b.example"]},
    ),
    "comment as name": sender(b"a@b.example (Ann Example)", "a@b.example", name="Ann Example"),
    "source route": sender(b"<@relay.example,@x.example:a@b.example>", "a@b.example"),
    "mailto in brackets": sender(b"Ann <mailto:a@b.example>", "a@b.example"),
    "quoted local part": sender(b'"Ann Example" <"ann example"@b.example>', '"ann example"@b.example'),
    "escaped quote in the name": sender(rb'"Ann \"A\" Example" <a@b.example>', "a@b.example", name='Ann "A" Example'),
    "comma in a quoted name": sender(b'"Example, Ann" <a@b.example>', "a@b.example", name="Example, Ann", ambiguous=False),
    "encoded name in quotes": sender(b'"=?utf-8?Q?Ann_=C3=84?=" <a@b.example>', "a@b.example", name="Ann Ä"),
    "encoded comma in the name": sender(b"=?utf-8?Q?Example=2C_Ann?= <a@b.example>", "a@b.example", name="Example, Ann"),
    "raw letters in an encoded word": sender("=?UTF-8?B?Kévin?= <k@b.example>".encode(), "k@b.example"),
    "international address": sender("Jörg <jörg@bücher.example>".encode(), "jörg@bücher.example", name="Jörg"),
    "latin-1 name": sender("Jörg <j@b.example>".encode("latin-1"), "j@b.example", name="Jörg"),
    "domain literal": sender(b"a@[192.0.2.1]", "a@[192.0.2.1]"),
    "upper case kept": sender(b"Ann.Example@Example.ORG", "Ann.Example@Example.ORG"),
    # other address fields
    "group": (head(b"To: Team: a@b.example, c@d.example;, e@f.example"), {"to": ["a@b.example", "c@d.example", "e@f.example"]}),
    "undisclosed recipients": (head(b"To: undisclosed-recipients:;"), {"to": []}),
    "binary in Cc": (head(b"Cc: \xff\xfe\x80, a@b.example"), {"cc": ["a@b.example"]}),
    "Reply-To without address": (head(b"Reply-To: Foo"), {"reply_to": []}),
    "semicolons between addresses": (head(b"To: a@b.example; c@d.example"), {"to": ["a@b.example", "c@d.example"]}),
    "folded To": (head(b"To: a@b.example,\r\n\tc@d.example"), {"to": ["a@b.example", "c@d.example"]}),
    "null return path": (head(b"Return-Path: <>"), {"return_path": ""}),
    "rubbish between addresses": (head(b"To: a@b.example, nobody, c@d.example"), {"to": ["a@b.example", "c@d.example"]}),
    # encoded words
    "multibyte split between words": subject(b"=?utf-8?B?4pyT4p?= =?utf-8?B?yT?=", "✓✓"),
    "adjacent words lose the space": subject(b"=?utf-8?Q?a?=\r\n =?utf-8?Q?b?=", "ab"),
    "word and text keep the space": subject(b"=?utf-8?Q?a?= b", "a b"),
    "word inside a word": subject(b"x=?utf-8?Q?=C3=A9?=y", "xéy"),
    "spaces in a Q word": subject(b"=?utf-8?Q?hello world=C3=A9?=", "hello worldé"),
    "question mark in a Q word": subject(b"=?utf-8?Q?really??=", "really?"),
    "base64 without padding": subject(b"=?utf-8?B?SGVsbG8?=", "Hello"),
    "language suffix": subject(b"=?utf-8*en?Q?caf=C3=A9?=", "café"),
    "unknown charset in a word": subject(b"=?x-nix?Q?caf=C3=A9?=", "café"),
    "ISO-2022-JP words": subject(b"=?iso-2022-jp?B?GyRCJDMkcyRLJEEkTxsoQg==?=", "こんにちは"),
    "GB18030 word": subject(b"=?gb18030?B?" + base64.b64encode("你好".encode("gb18030")) + b"?=", "你好"),
    "KS_C_5601 word": subject(b"=?ks_c_5601-1987?B?" + base64.b64encode("안녕".encode("cp949")) + b"?=", "안녕"),
    "truncated word": subject(b"=?utf-8?Q?caf=C3=A9", "=?utf-8?Q?caf=C3=A9"),
    "raw UTF-8 subject": subject("Größe".encode(), "Größe"),
    "raw UTF-8 subject, cut in a letter": subject("Замовлення з мед".encode() + b"\xd1 ...", "Замовлення з мед\ufffd ..."),
    "UTF-8 text called latin-1, cut in a letter": body(b"text/plain; charset=iso-8859-1", "Δοκιμή λέξης".encode() + b"\xce", "Δοκιμή λέξης\ufffd"),
    "latin-1 text with one pair that UTF-8 has": body(b"text/plain; charset=iso-8859-1", b"\xc3\xa4 Gr\xfc\xdfe", "Ã¤ Grüße"),
    "raw latin-1 subject": subject("Größe".encode("latin-1"), "Größe"),
    "folded with tab": subject(b"Re: [x]\r\n\tmore", "Re: [x] more"),
    "two subjects": (head(b"Subject: first", b"Subject: second"), {"subject": "first"}),
    "two Message-IDs": (head(b"Message-ID: <1@x>", b"Message-ID: <2@x>"), {"message_id": "1@x"}),
    "two Content-Types": (head(b"Content-Type: text/plain; charset=utf-8", b"Content-Type: text/html", body="\r\n<é>".encode()), {"text": "<é>"}),
    # threads and dates
    "empty In-Reply-To": (head(b"In-Reply-To:"), {"in_reply_to": []}),
    "In-Reply-To with words": (head(b'In-Reply-To: Your message of "Mon" <1@x>'), {"in_reply_to": ["1@x"]}),
    "bare message id": (head(b"Message-ID: abc@example.org"), {"message_id": "abc@example.org"}),
    "message id without @": (head(b"Message-ID: <abc>"), {"message_id": "abc"}),
    "folded references": (head(b"References: <1@x>\r\n <2@x>\r\n\t<3@x>"), {"references": ["1@x", "2@x", "3@x"]}),
    "references without spaces": (head(b"References: <1@x><2@x>"), {"references": ["1@x", "2@x"]}),
    "date": (head(b"Date: Tue, 3 Mar 2026 10:14:55 +0100 (CET)"), {"date": datetime(2026, 3, 3, 9, 14, 55, tzinfo=UTC)}),
    "date with a name zone": (head(b"Date: 3 Mar 99 10:14 EST"), {"date": datetime(1999, 3, 3, 15, 14, tzinfo=UTC)}),
    "date with -0000": (head(b"Date: Tue, 03 Mar 2026 10:14:55 -0000"), {"date": datetime(2026, 3, 3, 10, 14, 55, tzinfo=UTC)}),
    "date as ISO": (head(b"Date: 2026-03-03T10:14:55+01:00"), {"date": datetime(2026, 3, 3, 9, 14, 55, tzinfo=UTC)}),
    "date of the 32nd": (head(b"Date: Tue, 32 Mar 2026 10:14:55 +0100"), {"date": None}),
    "date in the year 0": (head(b"Date: Tue, 1 Jan 0000 00:00:00 +0000"), {"date": None}),
    "date is rubbish": (head(b"Date: yesterday"), {"date": None}),
    "date with a leap second": (head(b"Date: Sat, 31 Dec 2016 23:59:60 +0000"), {"date": datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)}),
    # the shape of the message
    "nothing": (b"", {"text": "", "address": None}),
    "one byte": (b"x", {}),
    "header only": (b"Subject: x", {"subject": "x", "text": ""}),
    "body only": (b"\r\nHello\r\n", {"text": "Hello"}),
    "no header at all": (b"Hello there\r\nhow are you\r\n", {"text": "Hello there\nhow are you"}),
    "missing empty line": (FROM + b"Subject: x\r\nHello there\r\n", {"subject": "x", "text": "Hello there"}),
    "line ends LF": (head(b"Subject: x").replace(b"\r\n", b"\n"), {"subject": "x", "text": "Hello"}),
    "line ends CR": (head(b"Subject: x").replace(b"\r\n", b"\r"), {"subject": "x", "text": "Hello"}),
    "mixed line ends": (FROM.replace(b"\r\n", b"\n") + b"Subject: x\r\n\nHello", {"subject": "x", "text": "Hello"}),
    "mbox line": (b"From ann@example.org Tue Mar  3 10:14:55 2026\n" + head(b"Subject: x"), {"subject": "x"}),
    "byte-order mark": (b"\xef\xbb\xbf" + head(b"Subject: x"), {"subject": "x", "address": "ann@example.org"}),
    "empty lines first": (b"\r\n\r\n" + head(b"Subject: x"), {"subject": "x"}),
    "space before the colon": (head(b"Subject : x"), {"subject": "x"}),
    "junk line in the header": (FROM + b"this is no field\r\nSubject: x\r\n" + PLAIN, {"subject": "x", "text": "Hello"}),
    "header line of 1 MB": (head(b"X-Long: " + b"a" * 1_000_000, b"Subject: x"), {"status": "parsed_partial", "address": "ann@example.org"}),
    "NUL in a header": (head(b"Subject: a\x00b"), {"subject": "a b"}),
    "lone surrogate bytes in a header": subject(b"\xed\xa0\x80x"),
    # text and its charset
    "UTF-8 called us-ascii": body(b"text/plain; charset=us-ascii", "Grüße €".encode(), "Grüße €"),
    "windows-1252 called iso-8859-1": body(b"text/plain; charset=iso-8859-1", "5 € – “ok”".encode("cp1252"), "5 € – “ok”"),
    "windows-1252 called us-ascii": body(b"text/plain; charset=us-ascii", "Grüße".encode("cp1252"), "Grüße"),
    "windows-1258": body(b"text/plain; charset=windows-1258", "Viêt".encode("cp1258"), "Viêt"),
    "iso-8859-8-i": body(b"text/plain; charset=iso-8859-8-i", "שלום".encode("iso-8859-8"), "שלום"),
    "windows-874": body(b"text/plain; charset=windows-874", "สวัสดี".encode("cp874"), "สวัสดี"),
    "windows-31j": body(b"text/plain; charset=windows-31j", "①日本".encode("cp932"), "①日本"),
    "x-sjis": body(b"text/plain; charset=x-sjis", "日本".encode("cp932"), "日本"),
    "x-gbk": body(b"text/plain; charset=x-gbk", "你好".encode("gbk"), "你好"),
    "x-mac-roman": body(b"text/plain; charset=x-mac-roman", "Größe".encode("mac_roman"), "Größe"),
    "x-mac-cyrillic": body(b"text/plain; charset=x-mac-cyrillic", "Привет".encode("mac_cyrillic"), "Привет"),
    "cp-850": body(b"text/plain; charset=cp-850", "Größe".encode("cp850"), "Größe"),
    "dos-862": body(b"text/plain; charset=dos-862", "שלום".encode("cp862"), "שלום"),
    "x-windows-949": body(b"text/plain; charset=x-windows-949", "안녕".encode("cp949"), "안녕"),
    "unknown-8bit": body(b"text/plain; charset=unknown-8bit", "Grüße".encode(), "Grüße"),
    "ISO-2022-JP body": body(b"text/plain; charset=iso-2022-jp", "こんにちは".encode("iso2022_jp"), "こんにちは"),
    "ISO-2022-JP with vendor characters": body(b"text/plain; charset=iso-2022-jp-ms", b"\x1b$B-!\x1b(B ok", "① ok"),
    "charset quoted with a semicolon inside": body(b'text/plain; charset="utf-8;"', "é".encode(), "é"),
    "charset empty": body(b"text/plain; charset=", "é".encode(), "é"),
    "UTF-8 under a Chinese name": body(b"text/plain; charset=gb2312", "您好，我的订单还没有到。".encode(), "您好，我的订单还没有到。"),
    "UTF-8 under a Russian name": body(b"text/plain; charset=windows-1251", "Где мой заказ?".encode(), "Где мой заказ?"),
    "Chinese under its own name": body(b"text/plain; charset=gb2312", "联通".encode("gbk"), "联通"),
    "Russian under its own name": body(b"text/plain; charset=koi8-r", "Где мой заказ?".encode("koi8-r"), "Где мой заказ?"),
    "charset with a comment": body(b"text/plain; charset=utf-8 (yes)", "é".encode(), "é"),
    "UTF-16 body": body(b"text/plain; charset=utf-16", base64.b64encode("Hé".encode("utf-16")), "Hé", b"base64"),
    "Russian undeclared": body(b"text/plain", ("Здравствуйте, подскажите, где мой заказ? Спасибо большое за ответ. " * 3).encode("koi8-r"), ("Здравствуйте, подскажите, где мой заказ? Спасибо большое за ответ. " * 3).strip()),
    "cut UTF-8 sequence": body(b"text/plain; charset=utf-8", "Grüße, schöne".encode() + b"\xc3", "Grüße, schöne\ufffd"),
    # transfer encodings
    "quoted-printable": body(b"text/plain; charset=utf-8", b"caf=C3=A9 soft=\r\n break", "café soft break", b"quoted-printable"),
    "bad quoted-printable": body(b"text/plain; charset=utf-8", b"100=% sure=", "100=% sure", b"quoted-printable"),
    "base64 text": body(b"text/plain; charset=utf-8", base64.b64encode("café".encode()), "café", b"base64"),
    "base64 with rubbish after it": body(b"text/plain; charset=utf-8", b"Y2Fmw6k= ignored", "café", b"base64"),
    "little base64 above a list's own words": body(
        b"text/plain; charset=utf-8", b"w7ZrCg==\r\n\r\n-- \r\nThis list is read by everybody who works in the house\r\nhttps://lists.example/house\r\n", "ök", b"base64",
    ),
    "a word and two signs of equality": body(b"text/plain", b"word==\r\nand more words that are no base64 at all\r\n", "word==\nand more words that are no base64 at all", b"base64"),
    "base64 with a blank in its lines": body(b"text/plain; charset=utf-8", b"Y2Fm w6kg\r\nb3Vp IQ==\r\n", "café oui!", b"base64"),
    "base64 that is plain": body(b"text/plain", b"this is not base64 at all, sorry", "this is not base64 at all, sorry", b"base64"),
    "unknown encoding": body(b"text/plain; charset=utf-8", "é".encode(), "é", b"x-nothing"),
    "encoding with a comment": body(b"text/plain; charset=utf-8", b"caf=C3=A9", "café", b"quoted-printable (really)"),
    "format=flowed": body(b"text/plain; format=flowed", b"one \r\ntwo\r\nthree", "one two\nthree"),
    "format=flowed with delsp": body(b"text/plain; format=flowed; delsp=yes", b"one \r\ntwo", "onetwo"),
    "flowed signature": body(b"text/plain; format=flowed", b"one\r\n-- \r\nAnn", "one\n-- \nAnn"),
    # file names
    "plain name": (named(b"filename=a.pdf"), file("a.pdf")),
    "name with spaces and no quotes": (named(b"filename=my report.pdf; size=3"), file("my report.pdf")),
    "RFC 2231": (named(b"filename*=utf-8''%C3%A9.pdf"), file("é.pdf")),
    "RFC 2231 before plain": (named(b"filename=x.pdf; filename*=utf-8''%C3%A9.pdf"), file("é.pdf")),
    "continuations out of order": (named(b"filename*1*=%C3%A9.pdf; filename*0*=utf-8''a"), file("aé.pdf")),
    "continuation splits a character": (named(b"filename*0*=utf-8''a%C3; filename*1*=%A9.pdf"), file("aé.pdf")),
    "continuation without charset": (named(b"filename*0=a; filename*1=b.pdf"), file("ab.pdf")),
    "continuation with a huge index": (named(b"filename*0=a.pdf; filename*99999999999=b"), file("a.pdf")),
    "koi8-r continuations": (named(b"filename*0*=koi8-r''%D0%D2; filename*1*=%C9.pdf"), file("при.pdf")),
    "byte outside the declared charset": (named(b"filename*=us-ascii''%F6.pdf"), file("ö.pdf")),
    "charset missing": (named(b"filename*=%C3%A9.pdf"), file("é.pdf")),
    "encoded word as name": (named(b'filename="=?utf-8?Q?=C3=A9.pdf?="'), file("é.pdf")),
    "raw UTF-8 name, cut in a letter": (named('filename="Рахунок за меб'.encode() + b'\xd0"'), file("Рахунок за меб\ufffd")),
    "raw UTF-8 name": (named('filename="é.pdf"'.encode()), file("é.pdf")),
    "path": (named(b'filename="../../etc/passwd"'), file("passwd")),
    "RFC 2231 path": (named(b"filename*=utf-8''..%2F..%2Fetc%2Fpasswd"), file("passwd")),
    "right-to-left override": (named(b"filename*=utf-8''invoice%E2%80%AEfdp.exe"), file("invoicefdp.exe")),
    "control characters": (named(b"filename*=utf-8''a%0D%0Ab%00.pdf"), file("a b .pdf")),
    "only dots": (named(b'filename=".."'), file(None)),
    "600 characters": (named(b"filename=" + b"x" * 600 + b".pdf"), file("x" * 251 + ".pdf")),
    "name of Content-Type": (attached(kind=b'application/pdf; name="b.pdf"'), file("b.pdf")),
    "no name": (attached(), file(None)),
    "disposition without a type": (attached(b"Content-Disposition: ;\r\n filename=c.png", kind=b"image/png"), {"names": ["c.png"]}),
    # structure
    "part without header": (mixed(b"\r\nHello"), {"text": "Hello"}),
    "boundary with a space": (head(b'Content-Type: multipart/mixed; boundary="a b"', body=b"\r\n--a b\r\n\r\nHello\r\n--a b--\r\n"), {"text": "Hello"}),
    "boundary missing": (head(b"Content-Type: multipart/mixed", body=b"\r\n--zz\r\n\r\nHello\r\n--zz--\r\n"), {"text": "Hello"}),
    "another boundary than declared": (head(b'Content-Type: multipart/mixed; boundary="a"', body=b"\r\n--zz\r\nContent-Type: text/plain\r\n\r\nHello\r\n--zz--\r\n"), {"text": "Hello"}),
    "a rule where a boundary was declared": (head(b"Content-Type: multipart/mixed; boundary=a", body=b"\r\nHello\r\n--zz\r\nContent is king\r\n"), {"text": "Hello\n--zz\nContent is king"}),
    "semicolon missing before the boundary": (head(b"Content-Type: multipart/mixed\r\n\tboundary=b", body=b"\r\n--b\r\n\r\nHello\r\n--b--"), {"text": "Hello"}),
    "never a boundary line": (head(b"Content-Type: multipart/mixed; boundary=b", body=b"\r\nHello\r\n"), {"text": "Hello"}),
    "no closing boundary": (mixed(b"\r\nHello", end=b""), {"text": "Hello"}),
    "no closing boundary after an alternative": (
        mixed(b"Content-Type: text/plain\r\n\r\nHello", b"Content-Type: text/html\r\n\r\n<b>Hi</b>", kind=b"alternative", end=b""),
        {"text": "Hello", "html": "<b>Hi</b>", "names": []},
    ),
    "no closing boundary of the outer": (
        mixed(b"Content-Type: multipart/alternative; boundary=i\r\n\r\n--i\r\n\r\nOne\r\n--i--", b"\r\nTwo", end=b""),
        {"text": "One\nTwo", "names": []},
    ),
    "more behind the closing boundary": (
        mixed(b"\r\nHello", end=b"--b--> not ours\r\n\r\nand nothing to read\r\n"), {"text": "Hello", "names": []},
    ),
    "a boundary that goes on behind two hyphens": (
        mixed(b"Content-Type: multipart/mixed; boundary=b--=c\r\n\r\n--b--=c\r\n\r\nOne\r\n--b--=c--", b"\r\nTwo"), {"text": "One\nTwo"},
    ),
    "half a closing boundary": (mixed(b"\r\nHello", end=b"--b-\r\n"), {"text": "Hello", "names": []}),
    "no closing boundary of two": (
        mixed(b"\r\nOne", b"Content-Type: multipart/mixed; boundary=i\r\n\r\n--i\r\n\r\nTwo", end=b""), {"text": "One", "names": [None]},
    ),
    "related with its picture first": (
        mixed(b"Content-Type: image/png\r\nContent-Location: p1\r\n\r\nx", b"Content-Type: text/html\r\n\r\n<b>Hello</b><img src=p1>", kind=b"related"),
        {"text": "Hello", "names": [None], "inline": [True]},
    ),
    "related that names its start": (
        mixed(
            b"Content-Type: text/html; name=style.html\r\n\r\nframe",
            b"Content-Type: text/html; name=page.html\r\nContent-ID: <r>\r\n\r\nHello",
            kind=b'related; start="<r>"',
        ),
        {"text": "Hello", "names": ["style.html"]},
    ),
    "related of pictures": (mixed(b"Content-Type: image/png\r\n\r\nx", b"Content-Type: image/png\r\n\r\ny", kind=b"related"), {"names": [None, None]}),
    "name of blanks": (
        mixed(b"\r\nOne", b'Content-Type: text/plain; name=" "\r\nContent-Disposition: inline; filename=""\r\n\r\nTwo'), {"text": "One\nTwo", "names": []},
    ),
    "closing boundary on the last text line": (mixed(end=b"--b\r\n\r\nHello--b--"), {"text": "Hello", "names": []}),
    "outer boundary ends the inner": (mixed(b'Content-Type: multipart/mixed; boundary="i"\r\n\r\n--i\r\n\r\nOne', b"\r\nTwo"), {"text": "One\nTwo"}),
    "empty part": (mixed(b"", b"\r\nHello"), {"text": "Hello"}),
    "HTML only": body(b"text/html; charset=utf-8", b"<p>Caf&eacute;</p>", "Café"),
    "empty plain beside HTML": (mixed(b"Content-Type: text/plain\r\n\r\n ", b"Content-Type: text/html\r\n\r\n<b>Hello</b>", kind=b"alternative"), {"text": "Hello"}),
    "signed": (mixed(b"Content-Type: text/plain\r\n\r\nHello", b"Content-Type: application/pgp-signature\r\n\r\nx", kind=b"signed"), {"text": "Hello", "signed": True, "names": [None]}),
    "encrypted": (mixed(b"Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1", b"Content-Type: application/octet-stream\r\n\r\nx", kind=b"encrypted"), {"encrypted": True, "names": [None, None]}),
    "calendar stays a file": (mixed(b"Content-Type: text/plain\r\n\r\nHello", b"Content-Type: text/calendar; name=i.ics\r\n\r\nBEGIN:VCALENDAR"), {"names": ["i.ics"], "text": "Hello"}),
    "nested three deep": (mixed(b"\r\nsee", b"Content-Type: message/rfc822\r\n\r\nSubject: a\r\nContent-Type: message/rfc822\r\n\r\nContent-Type: message/rfc822\r\n\r\nSubject: c\r\n\r\nx"), {"names": [None], "text": "see"}),
    "digest": (mixed(b"\r\nSubject: a\r\n\r\nx", kind=b"digest"), {"names": [None]}),
    "Content-Type without a slash": body(b"text", b"Hello", "Hello"),
    "Content-Type rubbish": body(b";;;=", b"Hello", "Hello"),
    "broken winmail.dat": (attached(kind=b"application/ms-tnef; name=winmail.dat"), file("winmail.dat")),
    "image inside mixed with cid": (mixed(b"Content-Type: text/html\r\n\r\n<img src='CID:A1%40x'>", b"Content-Type: image/png\r\nContent-ID: <a1@X>\r\n\r\nx"), {"inline": [True]}),
}  # fmt: skip


def strings_of(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.items() for text in strings_of(item)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in strings_of(item)]
    return []


def seen(mail: ParsedMail) -> dict[str, Any]:
    return {
        "status": mail.status,
        "subject": mail.subject,
        "address": mail.from_.address if mail.from_ else None,
        "name": mail.from_.name if mail.from_ else None,
        "ambiguous": mail.from_ambiguous,
        "to": [item.address for item in mail.to],
        "cc": [item.address for item in mail.cc],
        "reply_to": [item.address for item in mail.reply_to],
        "return_path": mail.return_path,
        "date": mail.date,
        "message_id": mail.message_id,
        "in_reply_to": mail.in_reply_to,
        "references": mail.references,
        "text": mail.text.strip(),
        "html": mail.html.strip(),
        "names": [item.filename for item in mail.attachments],
        "inline": [item.inline for item in mail.attachments],
        "signed": mail.signed,
        "encrypted": mail.encrypted,
    }


def test_there_are_enough() -> None:
    assert len(CASES) >= 150


@pytest.mark.parametrize("name", CASES)
def test_crafted_mail(name: str) -> None:
    raw, expected = CASES[name]
    mail = parse(raw)
    assert mail.status != "quarantined"
    found = seen(mail)
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize("name", CASES)
def test_nothing_unfit_to_store_or_send(name: str) -> None:
    mail = parse(CASES[name][0])
    plain = msgspec.to_builtins(mail)
    for text_found in strings_of(plain):
        assert "\x00" not in text_found
        text_found.encode()  # a lone surrogate raises
    header_values = [mail.subject, mail.message_id or "", *mail.in_reply_to, *mail.references]
    header_values += [value for field in mail.headers for value in field]
    header_values += [part for item in (*mail.to, *mail.cc, *mail.reply_to) for part in (item.name, item.address)]
    header_values += [item.filename or "" for item in mail.attachments]
    for value in header_values:
        assert not set("\r\n\x00\u2028\u2029\u202e") & set(value)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(mail), type=ParsedMail) == mail
