"""`Sent from my iPhone` and its relatives, told apart from a sentence about a phone or a parcel."""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE

# Always a whole short line that names a device or a program. A parcel is sent with DHL.
_DEVICES = (
    r"(?:i-?phon[eua]|i-?pad|i-?pod|ios|android|galaxy|samsung|htc|nokia|huawei|xiaomi|redmi|oneplus|xperia|motorola|oppo|lenovo|pixel|blackberry|windows|mac-?book"
    r"|(?:mobile?|mobil\w*|handy|smartphone|phone|tablet|tablette|cell\w*|celular|móvil|movil|telefon\w*|téléphone|telefoon|puhelimes\w*|device|mailbox)"
    r"|airmail|outlook|yahoo|gmail|gmx|web\.de|(?-i:Mail)|\[mail|\w+mail|k-9|proton\w*|tutanota|tuta|superhuman|shortwave|missive|spark|spike|newton|thunderbird"
    r"|телефона?|айфона|手机|手機|移动设备|行動裝置|スマートフォン)"
)
_GET = (
    r"(?:get|obtener|obtén|obtenga|obter|obtenha|ottieni|télécharger|téléchargez|obtenez|holen sie sich|laden sie|scarica|download|hämta|få|hent"
    r"|hanki|pobierz|získat|stáhnout|stiahnuť|скачать|загрузить)"
)
_MY = r"(?:my|meine[mr]|mon|mi|meu|minha|mio|mijn|min|mit|moje(?:go|j)|mého|моего)"
_SENT = r"(?:sent|gesendet|verschickt|geschickt|envoyé|envoye|enviado|enviada|inviato|verzonden|verstuurd|skickat|sendt|wysłan[eoy]|wysłano|odesláno|odoslané|отправлено|надіслано|відправлено|lähetetty|gönderildi|trimis|küldve|elküldve|poslano|στάλθηκε|(?:được )?gửi từ|dikirim|изпратено|saadetud|išsiųsta|nosūtīts|enviat|bidalia|送信|发送|發送|发自|發自|傳送|보냄)"
# What is sent to a phone was not sent by one.
_NOT_TO = r"(?!\s+(?:to|into|an|auf|naar|till|til|na|на|para|vers|zum?|zur)\s)"
_PREPOSITIONS = r"(?:from|via|with|by|using|von|vom|mit|über|aus|depuis|de|du|à partir|desde|con|do|da|dal|dalla|van|met|vanaf|från|fra|med|z|ze|с|со|з|из|din|cu)"
_DEVICE = re.compile(
    rf"\W*(?:{_SENT}(?:\b{_NOT_TO}.{{0,40}}?(?<!\w){_DEVICES}\w{{0,8}}\b.{{0,70}}"
    # A program that is not known here links to itself.
    rf"|\s+{_PREPOSITIONS}\s+(?:\S{{1,20}}\s){{0,3}}\S{{1,20}}?\s?<https?://[^\s<>]{{3,200}}>"
    # A make that is not known here is a name of one to four words, behind "my".
    rf"|\s+{_PREPOSITIONS}\s+{_MY}\s+(?-i:[A-Z0-9])\S*(?:\s(?-i:[A-Z0-9])\S*){{0,3}})"
    rf"|(?:(?:written|typed|posted|composed|mailed|tapped|dictated)\s+)?(?:from|on)\s+(?:my\s+|a\s+){_DEVICES}(?:\W+{_DEVICES}|\W+\d+){{0,2}}"
    rf"|(?:\w+\s+)?from\s+{_DEVICES}"
    rf"|(?:von|vom|mit)\s+.{{0,30}}?(?<!\w)(?:{_DEVICES}|unterwegs)\w{{0,8}}\b.{{0,30}}\b(?:gesendet|verschickt|geschickt)"
    rf"|diese\s+(?:nachricht|e-?mail|mail)\s+wurde\s+(?:von|mit)\b.{{0,60}}?(?<!\w)(?:{_DEVICES})\w{{0,8}}\b.{{0,40}}\b(?:gesendet|verschickt|geschrieben)"
    rf"|{_GET}\s.{{0,12}}\b(?:outlook|bluemail)"
    r"(?:\s+\w{2,5}\s+(?:\w{2,8}\s+)?(?:ios|android|windows|mac|mobile)(?:\s(?:and|und|et|y|e|en|och|og|i|и)\s\w+)?)?(?:\W*https?://\S{1,80})?"
    r"|outlook\s+\w{2,5}\s+(?:ios|android|windows|mac)\s+(?:beziehen|herunterladen|downloaden)(?:\W*https?://\S{1,80})?"
    r"|(?:отправлено|надіслано|відправлено)\s+(?:из|с|со|з|зі)\s+(?:\w+\s){0,2}(?:смартфона|планшета|(?:мобильн|мобільн)\w+)\b.{0,60}"
    r"|(?:ios|android)\s?版\s?outlook\s?を入手|(?:ios|android)\s+için\s+outlook.{0,20}\b(?:edinin|alın)"
    r"|(?:ส่งจาก|נשלח|أُ?رسلت).{0,20}(?:iphone|ipad|android|galaxy|samsung|outlook|mail).{0,20}"
    rf"|(?:从|從|发自|發自|寄自|来自|來自).{{0,30}}(?:iphone|ipad|android|手机|手機|华为|小米).{{0,30}}|私の.{{0,30}}から送信"
    rf"|(?:나의|내)\s.{{0,30}}에서\s보냄"
    r")\W*$",
    _FLAGS,
)
# Where the device comes first the end is asked first: it is quicker to see.
_BEHIND = ("から送信", "gönderildi", "küldve")
_DEVICE_FIRST = re.compile(
    rf"\W*(?:az?\s)?{_DEVICES}(?:\W?メール)?\s?(?:から送信|\w{{0,8}}'?\w{{0,6}}(?:dan|den)\s+gönderildi|(?:[\s-]?\w{{1,14}}){{0,2}}?r[óő]l\s+küldve)\W*$",
    _FLAGS,
)
_MONTHS = r"(?:jan|feb|febr|fév|fevr|mar|mär|mrt|apr|avr|abr|kwi|mai|may|maj|mag|mei|jun|juin|giu|cze|jul|juil|lug|lip|aug|aoû|ago|sie|sep|set|wrz|okt|oct|out|ott|paź|nov|lis|dec|dez|déc|dic|gru|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек)"
# A number of a parcel, a date and a question belong to no device.
_OF_A_SENTENCE = re.compile(
    rf"[?？]|\d(?:[ -]?\d){{4}}|\d{{1,2}}[./]\d{{1,2}}(?![.\d]*\w)|\b\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:of\s|de\s)?(?!mail\b){_MONTHS}\w*|\b{_MONTHS}\w*\s\d{{1,2}}\b"
    r"|\b(?:on|am|le|el|on|op|il)\s(?:mon|tues|wednes|thurs|fri|satur|sun|mon|diens|donners|frei|sams|sonn)(?:day|tag)\b|\b(?:yesterday|today|gestern|heute|hier|ayer|ieri|gisteren)\b",
    _FLAGS,
)


def is_device_line(bare: str) -> bool:
    """What a phone or a program adds by itself; a link behind its name may hold any number."""
    found = _DEVICE.match(bare) or (bare.rstrip(" .!").endswith(_BEHIND) and _DEVICE_FIRST.match(bare))
    return bool(found) and _OF_A_SENTENCE.search(bare.split("http", 1)[0]) is None
