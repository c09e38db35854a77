"""Items of a bulk run that have no result: how many, and the first of them as one line each."""

from dataclasses import dataclass, field

from google.rpc import code_pb2
from precis.v1 import common_pb2
from rich.console import Console

from server.cli.console import shown

SHOWN_FAILURES = 10


@dataclass
class FailedItems:
    """Counts failures and keeps the first few."""

    count: int = 0
    first: list[tuple[str, common_pb2.ItemError]] = field(default_factory=list)

    def add(self, item_id: str, error: common_pb2.ItemError) -> None:
        """Takes one failure in."""
        self.count += 1
        if len(self.first) < SHOWN_FAILURES:
            self.first.append((item_id, error))

    def print(self, console: Console) -> None:
        """Prints a line for each failure that was kept, and how many more there are."""
        for item_id, error in self.first:
            where = f"{error.field}: " if error.field else ""
            console.print(shown(f"{item_id}: {code_name(error.code)}: {where}{error.message}", style="red"))
        if self.count > len(self.first):
            console.print(f"... and {self.count - len(self.first)} more failed items", style="red")


def code_name(code: int) -> str:
    """Names a google.rpc.Code; a number that is none is UNKNOWN."""
    return str(code_pb2.Code.Name(code)) if code in code_pb2.Code.values() else "UNKNOWN"
