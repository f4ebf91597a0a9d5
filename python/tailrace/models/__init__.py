"""Predicts what output costs and what tailrace gains: the models of asynchronous output.

`pipeline` has the three models of a program that computes and writes in turn, and the limit; `core` says
whether a dedicated core pays off; `shield` predicts the waits of single variables; `advice` compares the places and
says which to take. All are pure functions of numbers: times in seconds,
sizes in bytes. Nothing here measures, prints or reads files, and it needs only numpy: the folder can be taken out and
used alone. docs/models.md says where the models come from and how accurate they are.
"""

from __future__ import annotations

from . import advice, core, pipeline, shield
from .pipeline import limit, model1, model2, model3, sync

__all__ = ["advice", "core", "limit", "model1", "model2", "model3", "pipeline", "shield", "sync"]
