"""The console's pages of agents, their runs and their knowledge."""

from agents.admin import agents as agents
from agents.admin import knowledge as knowledge
from agents.admin import runs as runs
