"""The routes of study, progress and voice: part of a server where HELIX_STUDY is on."""

from helix.serving.routes.study import files, learning, progress, sets, transcription

ROUTERS = (
    learning.router, files.form_router, files.router, sets.router, progress.router,
    transcription.router,
)  # fmt: skip
