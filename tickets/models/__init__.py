from tickets.models.annotation import Annotation
from tickets.models.answer import CannedAnswer
from tickets.models.count import ThreadCount
from tickets.models.tag import Tag, ThreadTag
from tickets.models.view import SavedView

__all__ = ["Annotation", "CannedAnswer", "SavedView", "Tag", "ThreadCount", "ThreadTag"]
