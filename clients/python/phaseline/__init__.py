"""Agents of Phaseline: work that is claimed over the API, and the log of what happens."""

from .active import Context, StopReason, Work
from .agent import Problem, run_agent
from .client import Client, ClientError, LogPage
from .operations import Outcome, PhaseChange, WorkItem

__all__ = [
    "Client",
    "ClientError",
    "Context",
    "LogPage",
    "Outcome",
    "PhaseChange",
    "Problem",
    "StopReason",
    "Work",
    "WorkItem",
    "run_agent",
]
