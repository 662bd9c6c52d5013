"""Mails as their programs send them, and what a mail with some fields looks like."""

from __future__ import annotations

from base64 import b64encode

_SUBJECT = b64encode("Отчёт за март".encode("koi8-r")).decode()
_ANSWER = "Добрый день!\n\nСклад откроется в среду в девять утра.\n\n> Когда откроется склад?"
_PAGE = (
    "<meta http-equiv=content-type content='text/html; charset=windows-1251'>"
    "<p>Добрый день!</p><p>Склад откроется в среду в девять утра.</p><img src='cid:x'>"
)


def mail(text: str = "Hello.", **fields: str) -> bytes:
    """A mail of plain text; ``In_Reply_To`` is the field In-Reply-To."""
    head = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items())
    return _sent(f"{head}\n{text}\n")


def _sent(text: str, charset: str = "utf-8") -> bytes:
    return text.replace("\n", "\r\n").encode(charset)


THUNDERBIRD = _sent(
    f"""Message-ID: <t1@example.org>
Date: Mon, 3 Mar 2025 10:00:00 +0300
User-Agent: Mozilla Thunderbird
Subject: =?koi8-r?B?{_SUBJECT}?=
From: =?koi8-r?Q?=E9=D7=C1=CE?= <ivan@example.ru>
To: "Lind, Mara" <mara@example.com>, ops@example.com
Cc: boss@example.com
Content-Type: multipart/mixed; boundary="m1"

This is a multi-part message.
--m1
Content-Type: multipart/alternative; boundary="a1"

--a1
Content-Type: text/plain; charset=koi8-r; format=flowed
Content-Transfer-Encoding: 8bit

{_ANSWER}
--a1
Content-Type: multipart/related; boundary="r1"

--r1
Content-Type: text/html; charset=koi8-r
Content-Transfer-Encoding: 8bit

{_PAGE}
--r1
Content-Type: image/png; name="logo.png"
Content-Transfer-Encoding: base64
Content-ID: <x>
Content-Disposition: inline; filename="logo.png"

iVBORw0KGgo=
--r1--
--a1--
--m1
Content-Type: application/pdf
Content-Disposition: attachment; filename*=utf-8''%D0%BF%D0%BB%D0%B0%D0%BD.pdf
Content-Transfer-Encoding: base64

JVBERi0=
--m1--
""",
    "koi8-r",
)
"""Plain text in KOI8-R, HTML that names another encoding, a picture in it and a file beside it."""

OUTLOOK = _sent(
    """Received: from mx.example.com by example.com; Tue, 4 Mar 2025 09:00:00 +0000
From: Ann Bell <ann@example.com>
To: Oluf <oluf@example.com>
Subject: =?Windows-1252?Q?Prices_for_2026_=96_draft?=
Date: Tue, 4 Mar 2025 09:00:00 +0000
Message-ID: <o1@example.com>
In-Reply-To: <o0@example.com>
References: <oa@example.com> <o0@example.com>
Content-Type: multipart/related; boundary="_004_"; type="multipart/alternative"

--_004_
Content-Type: multipart/alternative; boundary="_000_"

--_000_
Content-Type: text/plain; charset="us-ascii"

Prices below.

Item

Price

Bolt

12 EUR

--_000_
Content-Type: text/html; charset="Windows-1252"
Content-Transfer-Encoding: quoted-printable

<html><head><style>p {color:red}</style></head><body><p class=3DMsoNormal>P=
rices below =96 valid in 2026.<o:p></o:p></p><table border=3D1><tr><td><b>I=
tem</b></td><td><b>Price</b></td></tr><tr><td>Bolt</td><td>12 =80</td></tr>=
<tr><td>Nut</td><td>7 =80</td></tr></table></body></html>

--_000_--
--_004_
Content-Type: image/png; name="image001.png"
Content-ID: <image001.png@01D>
Content-Disposition: inline; filename="image001.png"
Content-Transfer-Encoding: base64

iVBORw0KGgo=
--_004_--
"""
)
"""A table in HTML, whose plain text has lost it; a picture beside all of it."""

FORWARDED = _sent(
    """From: Ann <ann@example.com>
To: team@example.com
Subject: Fwd: Original order
Content-Type: multipart/mixed; boundary="A"

--A
Content-Type: text/plain

See the order below.
--A
Content-Type: message/rfc822

From: Carl <carl@example.net>
Subject: Original order
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: base64

V2Ugb3JkZXIgNDAgcGFsbGV0cyBvZiBncmF2ZWwuCg==
--A
Content-Type: application/zip; name="scans.zip"
Content-Disposition: attachment; filename="scans.zip"

PK
--A--
"""
)
"""A mail within, and a file that is not read."""

RETURNED = _sent(
    """From: MAILER-DAEMON@example.com
Subject: Undelivered
Content-Type: multipart/report; report-type=delivery-status; boundary="A"

--A

It could not be delivered.
--A
Content-Type: message/delivery-status

Reporting-MTA: dns; example.com

Final-Recipient: rfc822; nobody@example.net
Diagnostic-Code: smtp; 550 no such user
--A--
"""
)
