"""The parser of `tailrace` for sphinx-argparse: its help is plain text, and is escaped for reStructuredText."""

import argparse
import re

from tailrace import cli


def escaped(text):
    return text and re.sub(r"([*_`|\\])", r"\\\1", text)


def escape(parser):
    parser.description, parser.epilog = escaped(parser.description), escaped(parser.epilog)
    for action in parser._actions:
        if action.help != argparse.SUPPRESS:
            action.help = escaped(action.help)
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                choice.help = escaped(choice.help)
            for one in {id(each): each for each in action.choices.values()}.values():
                escape(one)


def parser():
    made = cli.parser()
    escape(made)
    return made
