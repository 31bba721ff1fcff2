"""The bound of row 1: the same rows by plain statements, as fast as PostgreSQL takes them.

One script is one mail: a transaction that stores it and one that files it, each sent in one go (a pipeline), with all
ids made by the client. It writes what `inbox_accept_v1` and `inbox_file_v1` leave behind, into the same tables with
their indexes, triggers, keys and fences; audit goes through its function, since nothing else may write there. A second
set calls the two functions themselves: what our SQL costs without Python.
"""

import orjson

from tests.bench import pgbench
from tests.bench.mails import Mail
from tests.bench.scratch import as_owner, runtime_url

SEATS = """
CREATE TABLE bench_seat AS
SELECT row_number() OVER (ORDER BY e.seq) AS n, e.workspace_id, w.realm_id, e.inbox_id, i.address, e.thread_id,
    e.id AS entry_id, e.contact_id, m.from_address AS sender, m.rfc_message_id AS cited
FROM inbox_entry e JOIN inbox_inbox i ON i.id = e.inbox_id JOIN tenancy_workspace w ON w.id = e.workspace_id
JOIN inbox_email m ON m.id = e.email_id;
ALTER TABLE bench_seat ADD PRIMARY KEY (n);
GRANT SELECT ON bench_seat TO inbox_runtime;
"""

_PICK = "\\set n random(1, :seats)\n\\set r random(1, 9223372036854775807)\n"
_ID = "md5('{0}' || :r::text)::uuid"
_MESSAGE, _EMAIL, _ENTRY, _THREAD, _CONTACT, _IDENTIFIER = (
    _ID.format(name) for name in ("message", "email", "entry", "thread", "contact", "identifier")
)
_AT = "FROM bench_seat s WHERE s.n = :n;\n"
_CAUSE = """'{"actor": {"id": "", "kind": "system", "label": "system"}, "request_id": ""}'"""

_STORE = f"""\\startpipeline
BEGIN;
SELECT set_config('app.all_workspaces', 'on', true);
INSERT INTO inbox_inboundmessage (id, workspace_id, source, provider_message_id, raw, sha256, size, envelope_from,
    recipients, verdicts, state, reason)
SELECT {_MESSAGE}, s.workspace_id, 'ses', 'bound-' || :r::text, x.raw, sha256(x.raw), octet_length(x.raw), s.sender,
    ARRAY[s.address], '{{}}', 'stored', '' FROM (SELECT :raw::bytea AS raw) x, bench_seat s WHERE s.n = :n;
INSERT INTO inbox_email (id, workspace_id, inbound_message_id, inbox_id, message_id, state, received_at, metadata,
    custom_metadata, subject, from_name, from_address, reply_to, "to", cc, rfc_message_id, in_reply_to, reference_ids,
    warnings, verdicts)
SELECT {_EMAIL}, s.workspace_id, {_MESSAGE}, s.inbox_id, 'bound-' || :r::text, 'stored', now(), '{{}}', '{{}}', '', '',
    '', '[]', '[]', '[]', '', '[]', '[]', '[]', '{{}}' {_AT}
INSERT INTO kernel_outboxevent (event_id, workspace_id, slug, version, aggregate_key, payload, context)
SELECT gen_random_uuid(), s.workspace_id, v.slug, 1, v.key, v.payload, {_CAUSE} FROM bench_seat s, LATERAL (VALUES
    ('email.stored', 'email_id:' || {_EMAIL}, jsonb_build_object('email_id', {_EMAIL}, 'inbox_id', s.inbox_id, 'reason', '')),
    ('inbound_message.stored', 'inbound_message_id:' || {_MESSAGE}, jsonb_build_object('inbound_message_id', {_MESSAGE}))
) AS v(slug, key, payload) WHERE s.n = :n;
COMMIT;
\\endpipeline
"""

_KNOWN_CONTACT = """UPDATE contacts_contactprofile p SET last_seen_at = clock_timestamp() FROM bench_seat s
WHERE s.n = :n AND p.workspace_id = s.workspace_id AND p.contact_id = s.contact_id;
"""
_NEW_CONTACT = f"""INSERT INTO contacts_contact (id, realm_id, created_via) SELECT {_CONTACT}, s.realm_id, 'inbound' {_AT}
INSERT INTO contacts_contactidentifier (id, contact_id, realm_id, kind, value, raw, provider_scope)
SELECT {_IDENTIFIER}, {_CONTACT}, s.realm_id, 'email', 'bound' || :r::text || '@people.test',
    'bound' || :r::text || '@people.test', '' {_AT}
WITH label AS (UPDATE tenancy_workspace w SET contact_seq = contact_seq + 1 FROM bench_seat s
    WHERE s.n = :n AND w.id = s.workspace_id RETURNING w.id, contact_seq)
INSERT INTO contacts_contactprofile (id, workspace_id, contact_id, label_no, display_name, attributes, source,
    engagement_score, engagement_rating)
SELECT gen_random_uuid(), id, {_CONTACT}, contact_seq, 'A stranger', '{{}}', 'inbound', 0, '' FROM label;
INSERT INTO contacts_identifiersighting (id, workspace_id, identifier_id)
SELECT gen_random_uuid(), s.workspace_id, {_IDENTIFIER} {_AT}
"""


def _new_thread(contact: str) -> str:
    return f"""INSERT INTO inbox_thread (id, workspace_id, inbox_id, provider_thread_key, subject, contact_id,
    last_entry_seq, last_entry_at, entry_count, preview, first_unanswered_inbound_at)
SELECT {_THREAD}, s.workspace_id, s.inbox_id, 'email:' || {_EMAIL}, :subject::text, {contact},
    nextval('inbox_entry_seq'), now(), 1, :preview::text, now() {_AT}
INSERT INTO kernel_outboxevent (event_id, workspace_id, slug, version, aggregate_key, payload, context)
SELECT gen_random_uuid(), s.workspace_id, 'thread.created', 1, 'thread_id:' || {_THREAD},
    jsonb_build_object('thread_id', {_THREAD}, 'inbox_id', s.inbox_id), {_CAUSE} {_AT}"""


_OLD_THREAD = """UPDATE inbox_thread t SET last_entry_seq = nextval('inbox_entry_seq'), last_entry_at = now(),
    entry_count = entry_count + 1, preview = :preview::text FROM bench_seat s WHERE s.n = :n AND t.id = s.thread_id;
"""


def _file(thread: str, contact: str, references: str, before: str) -> str:
    """The second transaction; `before` writes contact and thread."""
    return f"""\\startpipeline
BEGIN;
SELECT set_config('app.workspace_id', s.workspace_id::text, true) {_AT}
{before}
UPDATE inbox_email e SET state = 'threaded', mail_class = 'human', class_reason = 'a person', may_auto_answer = true,
    subject = :subject::text, from_name = 'Customer Miller', from_address = s.sender, "to" = :to::jsonb,
    date = now(), rfc_message_id = 'bound' || :r::text || '@mx.buyers.test', in_reply_to = :cites::jsonb,
    reference_ids = :cites::jsonb FROM bench_seat s WHERE s.n = :n AND e.id = {_EMAIL};
INSERT INTO inbox_entry (id, workspace_id, seq, inbox_id, thread_id, email_id, direction, mail_class,
    provider_entry_key, author_kind, author_id, author_label, contact_id, subject, body_text, extracted_text, body_html,
    sent_at_provider, occurred_at, thread_decision)
SELECT {_ENTRY}, s.workspace_id, nextval('inbox_entry_seq'), s.inbox_id, {thread}, {_EMAIL}, 'inbound', 'human',
    'email:' || {_EMAIL}, 'contact', {contact}::text, 'Customer Miller', {contact}, :subject::text, :text::text,
    :text::text, '', now(), now(), :decision::jsonb {_AT}
INSERT INTO inbox_messagereference (workspace_id, inbox_id, entry_id, message_id_hash, message_id, kind)
SELECT s.workspace_id, s.inbox_id, {_ENTRY}, sha256(convert_to(v.id, 'UTF8')), v.id, v.kind FROM bench_seat s,
    LATERAL (VALUES ('bound' || :r::text || '@mx.buyers.test', 'own'){references}) v(id, kind) WHERE s.n = :n;
INSERT INTO inbox_threadparticipant (workspace_id, thread_id, contact_id, address, role, source)
SELECT s.workspace_id, {thread}, {contact}, s.sender, 'requester', 'inbound' FROM bench_seat s WHERE s.n = :n
ON CONFLICT DO NOTHING;
UPDATE inbox_inboundmessage SET state = 'done' WHERE id = {_MESSAGE};
INSERT INTO kernel_outboxevent (event_id, workspace_id, slug, version, aggregate_key, payload, context)
SELECT gen_random_uuid(), s.workspace_id, v.slug, 1, v.key, v.payload, {_CAUSE} FROM bench_seat s, LATERAL (VALUES
    ('email.parsed', 'email_id:' || {_EMAIL}, jsonb_build_object('email_id', {_EMAIL}, 'inbox_id', s.inbox_id, 'reason', '')),
    ('email.received', 'thread_id:' || {thread}, jsonb_build_object('email_id', {_EMAIL}, 'inbox_id', s.inbox_id,
        'thread_id', {thread}, 'entry_id', {_ENTRY}, 'contact_id', {contact}, 'mail_class', 'human',
        'may_auto_answer', true))
) AS v(slug, key, payload) WHERE s.n = :n;
SELECT audit_append_v1(s.workspace_id, jsonb_build_array(jsonb_build_object('id', gen_random_uuid(), 'action',
    'email.file', 'outcome', 'done', 'actor_kind', 'system', 'actor_id', '', 'actor_label', 'system', 'resource_kind',
    'email', 'resource_id', {_EMAIL}, 'request_id', '', 'payload', jsonb_build_object('inbox_id', s.inbox_id,
    'thread_id', {thread}, 'mail_class', 'human', 'state', 'threaded')))) {_AT}
COMMIT;
\\endpipeline
"""


_CITED = ", (s.cited, 'in_reply_to'), (s.cited, 'reference')"
PLAIN = [
    (_PICK + _STORE + _file("s.thread_id", "s.contact_id", _CITED, _KNOWN_CONTACT + _OLD_THREAD), 60),
    (_PICK + _STORE + _file(_THREAD, "s.contact_id", "", _KNOWN_CONTACT + _new_thread("s.contact_id")), 30),
    (_PICK + _STORE + _file(_THREAD, _CONTACT, "", _NEW_CONTACT + _new_thread(_CONTACT)), 10),
]


def _calls(thread: str, sender: str, cites: str) -> str:
    """One mail through our two functions."""
    return f"""{_PICK}SELECT address AS to, workspace_id AS ws, inbox_id AS inbox, {sender} AS sender, thread_id AS thread,
    cited AS cited {_AT.rstrip().rstrip(";")} \\gset
SELECT inbound_message_id AS m, email_id AS e FROM inbox_accept_v1('ses', 'calls-' || :r::text, :raw::bytea,
    sha256(:raw::bytea), :sender, ARRAY[:to::text], ARRAY[:to::text], ARRAY[:to::text], ARRAY['none'::text], '{{}}',
    {_CAUSE}, NULL, '') \\gset
SELECT outcome FROM inbox_file_v1(jsonb_build_array(:content::jsonb || jsonb_build_object('n', 1, 'workspace_id', :ws::text,
    'message_id', :m::text, 'email_id', :e::text, 'inbox_id', :inbox::text, 'thread_id', {thread},
    'email', :content::jsonb->'email' || jsonb_build_object('from_address', :sender::text),
    'contact', jsonb_build_object('address', :sender::text, 'name', 'Customer Miller'),
    'entry', :content::jsonb->'entry' || jsonb_build_object('key', 'email:' || :e::text), 'references',
    jsonb_build_array(jsonb_build_object('id', 'calls' || :r::text, 'kind', 'own'){cites}), 'participants',
    jsonb_build_array(jsonb_build_object('address', :sender::text, 'role', 'requester')), 'audit_entry',
    :content::jsonb->'audit_entry' || jsonb_build_object('id', gen_random_uuid(), 'resource_id', :e::text))),
    jsonb_build_array(jsonb_build_array(:text::text, :text::text, '')));
"""


_CITES = "".join(f", jsonb_build_object('id', :cited::text, 'kind', '{kind}')" for kind in ("in_reply_to", "reference"))
CALLS = [
    (_calls(":thread::text", "sender", _CITES), 60),
    (_calls("NULL", "sender", ""), 30),
    (_calls("NULL", "'calls' || :r::text || '@people.test'", ""), 10),
]


class Bound:
    """The scripts on one database, with the values of a mail of the corpus."""

    def __init__(self, database: str, sample: Mail) -> None:
        self._url = runtime_url(database)
        with as_owner(database) as owner:
            owner.execute(SEATS.encode())
            row = owner.execute("SELECT count(*) FROM bench_seat").fetchone()
            owner.execute("VACUUM ANALYZE")
        assert row is not None
        self._variables = _values(sample) | {"seats": str(row[0])}

    def plain(self, each: int) -> float:
        """Mails a second by plain statements."""
        return pgbench.run(PLAIN, url=self._url, variables=self._variables, each=each).tps

    def calls(self, each: int) -> float:
        """Mails a second by our functions."""
        return pgbench.run(CALLS, url=self._url, variables=self._variables, each=each).tps

    def call_times(self, each: int) -> dict[str, float]:
        """Microseconds of each statement of a reply, one client."""
        found = pgbench.run(CALLS[:1], url=self._url, variables=self._variables, each=each, clients=1, statements=True)
        return found.statements


def _values(sample: Mail) -> dict[str, str]:
    """What the parser and the filing make of the sample, as pgbench variables."""
    from inbox.mime.parsing import parse

    mail = parse(sample.raw)
    text = mail.reply_text or mail.text
    decision = {"rule": "in_reply_to", "confidence": "high", "evidence": {"cited": mail.in_reply_to[:1], "as": "own"}}
    actor = {"actor_kind": "system", "actor_id": "", "actor_label": "system"}
    to = [{"name": a.name, "address": a.address} for a in mail.to]
    content = {
        "lease_token": 0,
        "final": True,
        "wanted": [],
        "seen": 0,
        "attachments": [],
        "email": {
            "state": "threaded", "reason": "", "mail_class": "human", "class_reason": "a person", "hops": 0,
            "may_auto_answer": True, "subject": mail.subject, "from_name": "Customer Miller", "reply_to": [], "to": to,
            "cc": [], "date": mail.date, "rfc_message_id": mail.message_id, "in_reply_to": mail.in_reply_to,
            "references": mail.references, "warnings": [],
        },
        "entry": {
            "author": "Customer Miller", "in_reply_to": None, "preview": text[:160], "opens_turn": True,
            "decision": decision,
        },
        "context": {"actor": {"kind": "system", "id": "", "label": "system"}, "request_id": ""},
        "audit_entry": {
            "action": "email.file", "outcome": "done", **actor, "resource_kind": "email", "request_id": "",
            "execution_id": None,
        },
    }  # fmt: skip
    return {
        "raw": sample.raw.decode().replace("\\", "/"),
        "subject": mail.subject,
        "text": mail.text,
        "preview": " ".join(text.split())[:160],
        "to": orjson.dumps(to).decode(),
        "cites": orjson.dumps(mail.in_reply_to).decode(),
        "decision": orjson.dumps(decision).decode(),
        "content": orjson.dumps(content).decode(),
    }
