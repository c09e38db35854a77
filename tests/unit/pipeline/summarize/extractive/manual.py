"""A small technical manual with everything that a summary must handle, and readers of what was made of it."""

import re

from pipeline.reading.sentences import split_sentences
from tests.fakes_pipeline import WordTokenizer

MANUAL = """\
# Pump station P-200

The pump station P-200 moves cooling water between two basins. It was built for continuous duty in chemical plants. \
The station is controlled by a small computer. Many operators like its compact design. Its colour is a friendly blue.

## 1. Safety

Never open the housing while the pump runs. The motor draws 16 A at 400 V. People in the plant know the station well.

WARNING Hot surfaces

The bearing housing reaches 95 °C during operation. Visitors often ask about the sound of the pump.

## 2. Start-up

The following steps start the pump:

1. Open valve V-17 completely.
2. Set the pressure to 5.5 bar.
3. Press the green button for 3 seconds.

The pump then runs until it is stopped. Most people find this procedure easy to learn.

## 3. Software

The controller runs firmware 4.2.1 and can be reached over the network. Read the state with this command:

```
$ pumpctl status --verbose
state: running
```

The command prints one line for each pump. The state can also be seen in the display. The display is easy to read.

### 3.1. Updates

Updates are installed from a memory card. The card must be formatted with FAT32. Updates take a while.

| Part | Number |
|------|--------|
| Seal | XK-4411-B |
| Belt | XK-9022 |

## 4. Contact

The station is made by Nordhaven Pumps in Kiel. They answer questions on weekdays.
"""

_TOKENIZER = WordTokenizer()


def count_tokens(text: str) -> int:
    return len(_TOKENIZER.offsets(text))


def flat(text: str) -> str:
    return " ".join(text.split())


def statements(markdown: str) -> list[str]:
    """Returns what a text says: its lines without marks, fences and table rules; listings line by line."""
    lines = [line.strip() for line in markdown.splitlines()]
    bare = [re.sub(r"^(?:#{1,6} |[-*] |\*\*(?=.*\*\*$))|\*\*$", "", line) for line in lines]
    return [flat(line) for line in bare if line and not line.startswith("```") and line != "[…]"]


def sentences(markdown: str) -> list[str]:
    """Returns what a text says, sentence by sentence."""
    return [
        line[sentence.start : sentence.end]
        for line in statements(markdown)
        for sentence in split_sentences(line, len(line))
    ]
