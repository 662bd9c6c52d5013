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
from helix.client.calls import QuestionOptions as QuestionOptions
from helix.client.calls import SearchOptions as SearchOptions
from helix.client.calls import UploadOptions as UploadOptions
from helix.client.errors import Forbidden as Forbidden
from helix.client.errors import IncompleteStream as IncompleteStream
from helix.client.errors import InvalidResponse as InvalidResponse
from helix.client.errors import RateLimited as RateLimited
from helix.client.errors import ServerTimeout as ServerTimeout
from helix.client.errors import Unauthorized as Unauthorized
from helix.client.errors import Unreachable as Unreachable
from helix.client.frames import Frame as Frame
from helix.client.library import Document as Document
from helix.client.library import Run as Run
from helix.client.library import RunFile as RunFile
from helix.client.library import SearchResult as SearchResult
from helix.client.library import SearchResults as SearchResults
from helix.client.library import Upload as Upload
