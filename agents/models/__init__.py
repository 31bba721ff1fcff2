from agents.models.agent import Agent, AgentVersion
from agents.models.approval import ApprovalRequest
from agents.models.execution import Execution, ExecutionStep
from agents.models.intent import ActionIntent
from agents.models.knowledge import KnowledgeChunk, KnowledgeSource
from agents.models.run import AgentRun

__all__ = [
    "ActionIntent",
    "Agent",
    "AgentRun",
    "AgentVersion",
    "ApprovalRequest",
    "Execution",
    "ExecutionStep",
    "KnowledgeChunk",
    "KnowledgeSource",
]
