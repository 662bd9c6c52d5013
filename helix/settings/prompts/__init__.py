"""The prompts that Helix sends, except the contract's, as Markdown that a tenant may change."""

from helix.settings.prompts.active_prompts import (
    STYLE,
    Override,
    Prompts,
    PromptUse,
    active_prompts,
    prompt,
    reading,
)
from helix.settings.prompts.template import (
    BrokenPrompt,
    NoSuchPrompt,
    Template,
    template,
    templates,
    use_folder,
)

__all__ = [
    "STYLE", "BrokenPrompt", "NoSuchPrompt", "Override", "PromptUse", "Prompts", "Template",
    "active_prompts", "prompt", "reading", "template", "templates",
    "use_folder",
]  # fmt: skip
