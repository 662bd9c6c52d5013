"""The prompts that Helix sends, except the contract's, as Markdown that a tenant may change."""

from helix.prompts.active import Override, Prompts, PromptUse, prompt
from helix.prompts.shipped import NoSuchPrompt, template, templates
from helix.prompts.template import BrokenPrompt, Template

__all__ = [
    "BrokenPrompt", "NoSuchPrompt", "Override", "PromptUse", "Prompts", "Template", "prompt",
    "template", "templates",
]  # fmt: skip
