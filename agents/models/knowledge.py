from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from pgvector.django import VectorField

from tenancy.scoping import SoftDeletable, WorkspaceOwned

DIMENSIONS = 256


class KnowledgeSource(SoftDeletable):
    """A document that agents of the workspace may answer from. Written by staff: trusted, unlike mail."""

    title = models.CharField(max_length=200)
    uri = models.CharField(max_length=500, blank=True)
    content = models.TextField()
    content_hash = models.BinaryField(max_length=32, editable=False)

    def __str__(self) -> str:
        return self.title


class KnowledgeChunk(WorkspaceOwned):
    """A passage with its embedding. Searched exactly within the workspace: an index over all finds 4 % of it."""

    source = models.ForeignKey(KnowledgeSource, models.CASCADE, related_name="chunks", db_constraint=False)
    position = models.PositiveIntegerField()
    heading = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    model = models.CharField(max_length=80)
    embedding = VectorField(dimensions=DIMENSIONS)
    words = models.GeneratedField(
        expression=models.Func(
            models.Value("simple"), models.F("text"), function="to_tsvector", output_field=SearchVectorField()
        ),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["source", "position"], name="agents_one_chunk_per_position")]
        indexes = [
            models.Index(fields=["workspace", "source"], name="agents_chunk_by_workspace"),
            GinIndex(fields=["words"], name="agents_chunk_words"),
        ]

    def __str__(self) -> str:
        return self.heading or self.text[:60]
