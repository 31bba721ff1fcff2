"""What the workspace's agents may answer from: add, replace and remove documents. Staff write them, so they are trusted."""

import hashlib
from uuid import UUID

from agents.llm import embedding
from agents.models import KnowledgeChunk, KnowledgeSource
from agents.services import splitting
from audit.services import record
from kernel import clock
from kernel.errors import Invalid, NotFound
from kernel.transactions import in_workspace

MAX_CONTENT = 500_000
# Up to here an exact scan answers in about twenty milliseconds.
MAX_PASSAGES = 20_000


def add(*, workspace_id: UUID, title: str, content: str, uri: str = "") -> KnowledgeSource:
    """Keep a document and its passages."""
    pieces = _pieces(title, content)
    with in_workspace(workspace_id):
        source = KnowledgeSource.objects.create(
            workspace_id=workspace_id,
            title=title,
            uri=uri,
            content=content,
            content_hash=hashlib.sha256(content.encode()).digest(),
        )
        _store(source, pieces)
        _record(source, "knowledge.add", passages=len(pieces))
    return source


def replace(
    *, workspace_id: UUID, source_id: UUID, title: str | None = None, content: str | None = None, uri: str | None = None
) -> KnowledgeSource:
    """Change a document; its passages are made anew when the words change."""
    with in_workspace(workspace_id):
        source = _locked(source_id)
        digest = hashlib.sha256(content.encode()).digest() if content is not None else bytes(source.content_hash)
        changed = digest != bytes(source.content_hash) or (title is not None and title != source.title)
        source.title = title if title is not None else source.title
        source.uri = uri if uri is not None else source.uri
        source.content = content if content is not None else source.content
        source.content_hash = digest
        source.save(update_fields=["title", "uri", "content", "content_hash"])
        if changed:
            pieces = _pieces(source.title, source.content)
            KnowledgeChunk.objects.filter(source_id=source.id).delete()
            _store(source, pieces)
        _record(source, "knowledge.replace", changed=changed)
        source.refresh_from_db()
    return source


def remove(*, workspace_id: UUID, source_id: UUID) -> None:
    """Mark a document as deleted; its passages go at once, so that no run finds them."""
    with in_workspace(workspace_id):
        source = _locked(source_id)
        source.deleted_at = clock.now()
        source.save(update_fields=["deleted_at"])
        KnowledgeChunk.objects.filter(source_id=source.id).delete()
        _record(source, "knowledge.remove")


def _locked(source_id: UUID) -> KnowledgeSource:
    source = KnowledgeSource.objects.select_for_update().filter(id=source_id).first()
    if source is None:
        raise NotFound
    return source


def _pieces(title: str, content: str) -> list[KnowledgeChunk]:
    """Passages with their vectors, without a source yet. The heading takes part: it often holds the telling word."""
    if not content.strip():
        raise Invalid("A document needs some text.", pointer="/content")
    if len(content) > MAX_CONTENT:
        raise Invalid(f"A document has at most {MAX_CONTENT} characters. Split it.", pointer="/content")
    pieces = splitting.split(content)
    vectors = embedding.embed([f"{piece.heading or title}. {piece.text}" for piece in pieces])
    return [
        KnowledgeChunk(
            position=position,
            heading=piece.heading[:200],
            text=piece.text,
            model=embedding.MODEL,
            embedding=vector,
        )
        for position, (piece, vector) in enumerate(zip(pieces, vectors, strict=True))
    ]


def _store(source: KnowledgeSource, pieces: list[KnowledgeChunk]) -> None:
    if KnowledgeChunk.objects.count() + len(pieces) > MAX_PASSAGES:
        raise Invalid(
            f"A workspace keeps at most {MAX_PASSAGES} passages. Remove a document first.", pointer="/content"
        )
    for piece in pieces:
        piece.source_id, piece.workspace_id = source.id, source.workspace_id
    KnowledgeChunk.objects.bulk_create(pieces, batch_size=500)


def _record(source: KnowledgeSource, action: str, **payload: object) -> None:
    record(
        workspace_id=source.workspace_id,
        action=action,
        resource_kind="knowledge_source",
        resource_id=source.id,
        payload={"title": source.title, **payload},
    )
