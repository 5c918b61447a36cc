"""Which chat template the server is given: none, as long as the model brings its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from raif_integrations.chat_templates import chat_template_names, chat_template_path, fitting_chat_template
from raif_integrations.cli.serving.flags import VllmFlags
from raif_integrations.cli.serving.model_files import ModelFiles
from raif_integrations.errors import ConfigurationError

AUTO = "auto"
NONE = "none"

_TEMPLATE_FILES = ("chat_template.jinja", "chat_template.json")


@dataclass(frozen=True, slots=True)
class ChosenTemplate:
    """A decision.

    Attributes:
        path: Template to give to vLLM; ``None`` leaves the model's own in force.
        reason: Why, in a sentence.
    """

    path: str | None
    reason: str


def choose_template(choice: str, model: str, given: VllmFlags) -> ChosenTemplate:
    """Decides on the chat template.

    Args:
        choice: ``auto``, ``none``, the name of a packaged template, or a path.
        model: Folder or hub name of the model.
        given: The user's own flags; ``--tokenizer`` and ``--revision`` say where the template would be.

    Raises:
        ConfigurationError: There is no such template, or the model needs one and none fits.
    """
    if choice == NONE:
        return ChosenTemplate(None, "left to vLLM, as --chat-template none says")
    if choice != AUTO:
        return ChosenTemplate(_named(choice), "as --chat-template says")
    if "chat-template" in given:
        return ChosenTemplate(None, "the one of the file given with --config")
    return _for_model(model, given)


def _named(choice: str) -> str:
    if choice in chat_template_names():
        return str(chat_template_path(choice))
    path = Path(choice).expanduser()
    # vLLM takes the text of a template, too.
    if path.is_file():
        return str(path)
    if "{{" in choice or "{%" in choice:
        return choice
    raise ConfigurationError(
        f"--chat-template is {choice!r}, which is neither a packaged template nor a file.",
        hint=f"Give a path, {AUTO}, {NONE}, or one of: {', '.join(chat_template_names())}.",
    )


def _for_model(model: str, given: VllmFlags) -> ChosenTemplate:
    revision = given.value("tokenizer-revision") or given.value("revision")
    tokenizer = ModelFiles(given.value("tokenizer") or model, revision)
    configuration = tokenizer.read_json("tokenizer_config.json")
    if configuration.get("chat_template") or any(map(tokenizer.find, _TEMPLATE_FILES)):
        return ChosenTemplate(None, "the model's own")
    if not configuration:
        return ChosenTemplate(None, f"left to vLLM: {model} has no tokenizer_config.json to look at")
    model_type = ModelFiles(model, given.value("revision")).read_json("config.json").get("model_type")
    model_type = model_type if isinstance(model_type, str) else ""
    name = fitting_chat_template(model_type, _special_tokens(tokenizer, configuration))
    if name is None:
        raise ConfigurationError(
            f"{model} has no chat template of its own, and none of the packaged ones fits a model of type "
            f"{model_type!r}.",
            hint=(
                f"Give --chat-template with a path or one of: {', '.join(chat_template_names())}. "
                f"With --chat-template {NONE} the server starts, but refuses chats."
            ),
        )
    return ChosenTemplate(
        str(chat_template_path(name)),
        f"the packaged {name}, because the model has none of its own and its tokens are those of that family",
    )


def _special_tokens(tokenizer: ModelFiles, configuration: dict[str, object]) -> set[str]:
    listed = configuration.get("added_tokens_decoder")
    entries = list(listed.values()) if isinstance(listed, dict) else []
    added = tokenizer.read_json("tokenizer.json").get("added_tokens")
    entries += added if isinstance(added, list) else []
    return {entry["content"] for entry in entries if isinstance(entry, dict) and "content" in entry}
