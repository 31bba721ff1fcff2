"""The palette (Ctrl K): pages, conversations and people of the workspace in sight."""

from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.dataclasses import SearchResult

from config.console import navigation
from contacts.models import ContactProfile
from inbox.models import Thread, ThreadParticipant
from kernel.admin.place import Place, place_of

FOUND = 8


def search(request: HttpRequest) -> HttpResponse:
    """Found pages first, then conversations, then people; nothing is kept between requests."""
    term = request.GET.get("s", "").strip()[:100]
    if not term:
        return HttpResponse()
    place = place_of(request)
    results = [*_pages(place, term), *_threads(place, term), *_people(place, term)]
    template = "found_wide" if "extended" in request.GET else "found"
    return TemplateResponse(request, f"console/{template}.html", {"results": results}, headers={"HX-Trigger": "search"})


def _pages(place: Place, term: str) -> list[SearchResult]:
    items = [item for _, group in navigation.visible(place) for item in group]
    return [
        SearchResult(title=item.title, description="Page", link=reverse(f"admin:{item.page}"), icon=item.icon)
        for item in items
        if term.lower() in item.title.lower()
    ]


def _threads(place: Place, term: str) -> list[SearchResult]:
    if not place.allows("thread.read"):
        return []
    took_part = ThreadParticipant.objects.filter(thread=OuterRef("pk"), address__icontains=term)
    rows = Thread.objects.filter(Q(subject__icontains=term) | Exists(took_part), merged_into=None)
    return [
        SearchResult(
            title=str(row),
            description=row.preview[:80] or "Conversation",
            link=reverse("admin:inbox_thread_change", args=[row.id]),
            icon="forum",
        )
        for row in rows.order_by("-last_entry_seq")[:FOUND]
    ]


def _people(place: Place, term: str) -> list[SearchResult]:
    if not place.allows("contact.read"):
        return []
    rows = ContactProfile.objects.filter(display_name__icontains=term).order_by("-last_seen_at")
    return [
        SearchResult(
            title=str(row),
            description=f"Contact C-{row.label_no}",
            link=reverse("admin:contacts_contactprofile_change", args=[row.id]),
            icon="person",
        )
        for row in rows[:FOUND]
    ]
