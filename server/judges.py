"""Makes the judge of each request: the server's settings with the caller's laid over them, and one cache for all."""

from concurrent.futures import Executor

from pipeline.judge.config import JudgeConfig
from pipeline.judge.judge import Judge
from pipeline.judge.judgement_cache import JudgementCache
from server.config import JudgeServiceConfig
from server.parse_judge import JudgeInput


class Judges:
    """Makes judges.

    Args:
        defaults: settings of judgements, which a request may override.
        config: where CPU work runs.
        cpu: threads for reading long texts; owned by the app.
    """

    def __init__(self, defaults: JudgeConfig, config: JudgeServiceConfig, *, cpu: Executor) -> None:
        self.defaults = defaults
        self._inline_chars = config.inline_chars
        self._cpu = cpu
        self._cache = JudgementCache(defaults.cache)

    def judge_for(self, parsed: JudgeInput) -> Judge:
        """Makes a judge. It reads a short text on the event loop: that is done before a thread would have begun."""
        is_long = parsed.char_count > self._inline_chars
        return Judge(parsed.config, executor=self._cpu if is_long else None, cache=self._cache)
