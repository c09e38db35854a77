"""The endpoint's key: where it is read from, and that it can be sent."""

from pydantic import SecretStr

from pipeline.llm.config import LlmConfig
from pipeline.llm.errors import LlmSettingsError


def read_api_key(config: LlmConfig) -> SecretStr | None:
    """Returns the key from the settings or the key file; None when there is neither.

    Raises:
        LlmSettingsError: the file cannot be read, or the key is no single printable word.
    """
    if config.api_key_file is None:
        return None if config.api_key is None else _checked(config.api_key.get_secret_value(), "api_key")
    try:
        text = config.api_key_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is no text"
        raise LlmSettingsError(f"cannot read the key file {config.api_key_file}: {problem}") from None
    return _checked(text, str(config.api_key_file))


def _checked(text: str, source: str) -> SecretStr:
    key = text.strip()
    if not key:
        raise LlmSettingsError(f"{source} holds no key: put the endpoint's key there and nothing else")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise LlmSettingsError(f"{source} holds something else than one key: put the endpoint's key there alone")
    return SecretStr(key)
