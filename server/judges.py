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
        """Makes the judge of a request."""
        return self._judge(parsed.config, parsed.char_count)

    def default_judge(self, char_count: int) -> Judge:
        """Makes a judge with the server's settings, for texts of this length together."""
        return self._judge(self.defaults, char_count)

    def _judge(self, config: JudgeConfig, char_count: int) -> Judge:
        # A short text is read on the event loop: that is done before a thread would have begun.
        executor = self._cpu if char_count > self._inline_chars else None
        return Judge(config, executor=executor, cache=self._cache)
