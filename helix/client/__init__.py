"""A client of a Helix server, for programs: ``Helix``, and ``AsyncHelix`` for an event loop."""

from helix.client.answer_stream import AsyncAnswerStream as AsyncAnswerStream
from helix.client.answers import Answer as Answer
from helix.client.answers import Citation as Citation
from helix.client.answers import Span as Span
from helix.client.answers import Statement as Statement
from helix.client.answers import Support as Support
from helix.client.asynchronous import AsyncHelix as AsyncHelix
from helix.client.blocking import AnswerStream as AnswerStream
from helix.client.blocking import Helix as Helix
from helix.client.calls import Asking as Asking
from helix.client.calls import Filing as Filing
from helix.client.errors import CutShort as CutShort
from helix.client.errors import Forbidden as Forbidden
from helix.client.errors import NeedsKey as NeedsKey
from helix.client.errors import NoHelix as NoHelix
from helix.client.errors import Silent as Silent
from helix.client.errors import TooMany as TooMany
from helix.client.errors import Unreachable as Unreachable
from helix.client.frames import Frame as Frame
from helix.client.library import Document as Document
from helix.client.library import Run as Run
from helix.client.library import RunFile as RunFile
from helix.client.library import Upload as Upload
