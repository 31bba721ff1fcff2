"""How mail programs mark the mail they answer, in the languages they speak: patterns only, no decisions."""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE


def _words(*groups: str) -> str:
    return "|".join(re.escape(word) for group in groups for word in group.split("|"))


def _each(words: str) -> frozenset[str]:
    return frozenset(words.split())


# "wrote", the verb of an attribution line.
_VERBS = _words(
    "wrote|writes|has written|said|sent",
    "schrieb|schrieben|geschrieben|hat geschrieben",
    "a écrit|a ecrit|écrivait|écrit",
    "escribió|escribio|escribiste|escrito",
    "escreveu|escrita",
    "ha scritto|scriveva|scritto",
    "schreef|geschreven",
    "skrev|skrev följande|har skrevet",
    "kirjoitti",
    "napisał|napisała|napisał(a)|napisał/a|pisze",
    "napsal|napsala|napsal(a)|napísal|napísala|napísal(a)",
    "написал|написала|написал(а)|пишет|писал|писала|пише|написав|написала(в)|написано",
    "написа",
    "yazdı|şunu yazdı|yazmış",
    "a scris|a írta|ezt írta|írta",
    "je napisao|je napisala|napisao je|napisala je|pravi|je napisal|je napisala|napisao|napisala|napisal|написао|написао/ла",
    "έγραψε|έγραψες",
    "写道|寫道|写到|书写|のメール|さんは書きました|は書きました|wrote(发送)",
    "님이 작성|작성|쓴 글",
    "đã viết|menulis|เขียน|เขียนว่า|כתב|כתבה|כתב/ה|كتب|كتبت|تمت كتابة ما يلي بواسطة|نوشت|ने लिखा",
    "rašė|rakstīja|kirjutas|va escriure|missatge de|idatzi du|skrifaði|wiadomość napisana przez",
)
_LEADS = _words(
    "on|am|le|el|op|il|em|no dia|den|på|dnia|w dniu|dne|dňa|în|in data|il giorno|at|pe data de|el día|o dia|em data de",
    "la|dana|στις|vào|pada|vr|za|zo|ma|di|wo|do|mån|tis|tors|fre|lör|sön|man|tir|ons|tor|lør|søn|pon|wt|śr|czw|pt|sob",
    "mon|tue|wed|thu|fri|sat|sun|lun|mar|mer|jeu|ven|sam|dim|в|у|від|от|пн|вт|ср|чт|пт|сб|вс|kl|date|datum",
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag",
    "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo",
    "segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica",
    "maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|måndag|tisdag|onsdag|torsdag|fredag|lördag|söndag",
    "mandag|tirsdag|lørdag|søndag|maanantai|tiistai|keskiviikko|torstai|perjantai|lauantai|sunnuntai",
    "poniedziałek|wtorek|środa|czwartek|piątek|sobota|niedziela|pondělí|úterý|středa|čtvrtek|pátek|neděle",
    "понедельник|вторник|среда|четверг|пятница|суббота|воскресенье|понеділок|вівторок|середа|четвер|п'ятниця|субота|неділя",
    "luni|marți|miercuri|joi|vineri|sâmbătă|duminică|hétfő|kedd|szerda|csütörtök|péntek|szombat|vasárnap",
    "pazartesi|salı|çarşamba|perşembe|cuma|cumartesi|pazar|δευτέρα|τρίτη|τετάρτη|πέμπτη|παρασκευή|σάββατο|κυριακή",
)
LEAD_WORDS = frozenset(_LEADS.replace("\\", "").split("|"))
_DATEISH = r"(?:\d{1,2}[:.h]\d{2}|\d{4}|\d{1,2}\s?[./年月]\s?\d{1,2}|\d{1,2}\.?\s+\w{3,12})"

VERB = re.compile(rf"(?:(?<!\w)(?:{_VERBS})(?!\w)|写道|寫道|写到|のメール|書きました|작성)", _FLAGS)
VERB_ALONE = re.compile(rf"\s*(?:{_VERBS})\s*[:：]\s*$", _FLAGS)
DATEISH = re.compile(_DATEISH, _FLAGS)
LEAD = re.compile(rf"[\W_]*(?:{_LEADS})(?!\w)\W*(?:\w+\W+){{0,4}}?\d|[\W_]*(?:在|於|于)\s*\d", _FLAGS)
DATE_START = re.compile(
    r"[\W_]*(?:\d{4}\s?[-/.年년]\s?\d{1,2}\s?[-/.月월]|\d{1,2}[-/.\s]+(?:\d{1,2}|\w{3,12}\.?)[-/.,\s]+(?:г\.?|р\.?|de\s)?\s?\d{2,4})",
    _FLAGS,
)
# "2016-03-03 17:21 GMT+01:00 Jo Doe", as Gmail once wrote: nobody types that.
STAMPED = re.compile(r"\d{4}-\d\d-\d\d \d{1,2}:\d\d (?:GMT|UTC)[+-]\d\d:?\d\d\s+[^\s<@][^<@]{0,80}$")
FULL_DATE_START = re.compile(r"[\W_]*\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\s")
MAILBOX = re.compile(r"(?:<|&lt;|\[|\()?(?:mailto:)?[^\s<>@\[\]()]{1,100}@[\w.-]{1,100}\s*(?:>|&gt;|\]|\))?")
# What stands right before an address is a name, whatever its words mean elsewhere: "The Parcel People <…>".
DISPLAY_NAME = re.compile(r"(?:\"[^\"\n]{1,80}\"|(?:[A-Z][\w.&'’-]{0,30}\s){1,6})\s?(?=<|&lt;)")
# The address at the start of a line, where a program has wrapped before it.
MAILBOX_FIRST = re.compile(r"\s*[(\u200e\u200f]?(?:<|&lt;)[^\s<>@]{1,100}@")
MAILBOX_WITHIN = re.compile(r"<[^\s<>@]{1,100}@[\w.-]{1,100}>")
# A name with its address, and that they wrote, makes an attribution without any date.
NAMED = re.compile(
    rf"[\W_]*(?:\w[^<>@:]{{0,80}}(?:<|&lt;)[^\s<>@]{{1,100}}@[\w.-]{{1,100}}(?:>|&gt;)\s*(?:{_VERBS})\s*[:：]\s*$)",
    _FLAGS,
)
# "Quoting Jo Doe <jo@example.org>:" of Horde, which knows no date: a name and its address behind a word for quoting.
QUOTING = re.compile(
    r"(?:quoting|zitat von|citation de|citando(?: a)?|citeren van|citat från|citerar|siterer|citat (?:fra|od)|cytat|cytowanie|cituji|citát|lainaus"
    r"|idézet|idézem|цитирую|цитата|alıntı|navajam)\s+[^<>@:\n]{1,80}<[^\s<>@]{1,100}@[\w.-]{1,100}>\s?[:：]\s*$",
    _FLAGS,
)
QUOTED_BY_HAND = re.compile(r"\s*[\"“”„«»‹›‘’'「『]")
ENDS_AS_ATTRIBUTION = re.compile(r"[:：]\s*[>*_\s]*$|-{2,}\s*$")
ENDS_WITH_MAILBOX = re.compile(r"(?:>|&gt;)\s*[:：]?\s*$")

ADDRESS_WROTE = re.compile(rf"@[\w.-]{{1,100}}\W{{1,4}}(?:{_VERBS})(?!\w)", _FLAGS)
# Quick to ask, of what may hold a time of day.
TIMEISH = re.compile(r"\d[:.h]\d\d")
CLOCK_TIME = re.compile(
    r"(?<![\d:.])\d{1,2}[:h]\d{2}(?P<seconds>:\d{2})?(?!\d)|(?:\b(?:klo?|om|um|at|o|ore|v|в)\.?\s|(?<=\d{4},\s))\d{1,2}\.\d{2}(?![.\d])",
    _FLAGS,
)
SECONDS = re.compile(r"\d:\d{2}:\d{2}")
ZONE = re.compile(r"(?:\b(?:GMT|UTC))?\s?[+-]\d{2}:?\d{2}\b|\(\w{1,5}\)")
# Marks of direction, which programs put around names and addresses.
DIRECTIONS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
# A line that ends so is cut within a date: "Am 3." or "12 Apr.".
ABBREVIATED = re.compile(
    r"(?:\b\d{1,2}|\d\s\w{2,6}|\b(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)),?\.$", _FLAGS
)
# A whole date with its year, in whatever language its month is.
DATE = re.compile(
    r"\d{4}\s?[-/.年년]\s?\d{1,2}\s?[-/.月월]\s?\d{1,2}(?!\d)[日일.]?"
    r"|(?<!\d)\d{1,2}\s?[-/.]\s?\d{1,2}\s?[-/.]\s?(?:\d{4}|\d{2})(?!\d)"
    r"|(?<!\d)\d{1,2}(?:st|nd|rd|th|\.|º)?\s(?:de\s)?[^\d\s@<>]{2,14},?\s(?:de\s)?\d{4}(?!\d)"
    r"|[^\W\d_]{3,14}\.?\s\d{1,2}(?:st|nd|rd|th|\.)?,?\s\d{4}(?!\d)",
    _FLAGS,
)
# What an attribution holds beside a date, a time and a name.
ATTRIBUTION_WORDS = _each(
    "am pm a.m p.m uhr vorm nachm h uur gmt utc cet cest heeft het volgende hat folgendes följande følgende usuario utente"
    " utilisateur użytkownik пользователь користувач χρήστης ο π.μ μ.μ odesílatel používateľ tarihinde şunu kirjoitti"
    " keltezéssel oseba lietotājs mez mesz cest pst pdt est edt brt msk ist gmt utc"
)
# Words for a day or before a time of day, beside those that begin an attribution.
AROUND_A_DATE = LEAD_WORDS | _each(
    "v u ob o om um à a às las alle ore ora hod saat saatinde pukul jam plkst kell klo kello kl г р год года на בתאריך יום ב ה מאת בשעה"
    " dl dt dc dj dv ds dg día dia del des from"
)
NAME_PARTICLES = _each(
    "von vom zu zum van der den de del della da di du dos das la le el al bin ibn ter ten af av via y e"
)
# Who speaks of himself or to somebody, denies or goes on is no program. Written small, for "Min", "Mi" and "Ma" are names;
# those that stand large within a sentence or at its start are named.
SENTENCE_WORDS = re.compile(
    r"(?<![\w@.<-])(?:I|I['’]\w+|My|We|Our|You|Your|The|Sie|Ihr|Ihr[ei]\w{0,2}|Ihnen|Ich|Mein\w{0,2}|Wir|Unser\w{0,2}|Je|J['’]\w+|Vous|Votre|Nous|Ik|Jag|Jeg|Io|Yo|Eu|Usted|Я|Мы|Вы|Ваш\w{0,3}|Мой|Моя"
    r"|me|my|we|us|our|you|your|yours|he|she|they|his|their|the|this|these|that|was|were|is|are|have|had|will|not|and|but|for|about|please|because"
    r"|ich|mir|mich|mein\w{0,2}|wir|uns|unser\w{0,2}|sie|ihnen|ihr|ihr[ei]\w{0,2}|habe|haben|hatte|wurde|wurden|war|ist|sind|nicht|und|aber|weil|dass|bitte"
    r"|je(?=\s(?!napis|oseba))|j['’]\w+|moi|mon|mes|nous|notre|nos|vous|votre|vos|m['’]\w+|avez|avons|est|été|pas|que|qui|mais|et"
    r"|yo|nosotros|nuestr[oa]s?|usted|ustedes|vuestr[oa]s?|pero|porque|eu|meu|minha|nós|noss[oa]s?|você|vocês|não|mas"
    r"|io|mio|mia|noi|nostr[oa]|voi|vostr[oa]|che|ho|abbiamo|avete|ik|mij|mijn|wij|onze|uw|jullie|niet|maar|dat"
    r"|jag|mig|mitt|vår|vårt|inte|och|jeg|meg|oss|ikke|mnie|moje|moja|nasz\w{0,2}|państwa|się|nie|mně|můj|vaše?|jsem"
    r"|я|мне|меня|мой|моя|мы|нам|наш\w{0,3}|вы|вам|вас|ваш\w{0,3}|что|не|я|мені|мій|ми|ви|що|ben|bana|benim|biz|siz|sizin|için)(?![\w@-])"
)

# An attribution in the middle of a line, where a program has lost the line break before it.
LATE_LEAD = re.compile(r"(?<=[\w.!?)\]])(?: *-{2,} *| +)(?=(?:On|Am|Le|El|Em|Il|Op|Den|W dniu|Dne|Dňa)\s[^\n]{0,40}\d)")

# "At 10:14 AM 3/3/2026, you wrote:" of Eudora, with nothing but digits before.
EUDORA = re.compile(r"At\s(?=[^\n]{0,25}\d:\d\d)[\d:/. APM-]{8,30},?\s(?:you|\w[\w .'-]{0,60})\swrote:\s*$")
# "Jo> as we said": a quote with the name or the initials of who is quoted.
CITED = re.compile(r"\s{0,3}[^\W\d_]\w{0,14}>(?:\s|$)")

# ">>> Jo Doe <jo@example.org> 03/03/2026 10:14 AM >>>" of GroupWise, "Jo Doe ---03/03/2026 10:14:17 AM---Order" of Notes:
# the whole line, whatever is below; and what Zoho writes where its dashes and its colon are lost.
WHOLE = re.compile(
    r">>>\s?[^>\n]{1,100}(?:<[^<>\s]{3,100}>)?[^<>\n]{0,20}\d{1,2}[:.]\d{2}[^<>\n]{0,10}>>>\s*$"
    r"|[^\W\d_][^\n@]{1,80}?\s?---\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\s\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s[AP]M)?---"
    r"|On\s\w{3},\s\d{1,2}\s\w{3}\s\d{4}\s\d\d:\d\d:\d\d\s[+-]\d{4}\s[^\n@]{1,80}<[^<>\s]{3,100}>\swrote\s*$"
)

# "----- Original Message -----": words between two runs of hyphens. In a language that is not known here they count when a
# header block follows, for people part their own text with such lines, too.
_ORIGINAL = _words(
    "original message|original appointment|forwarded message|forwarded by|reply above this line|reply message",
    "ursprüngliche nachricht|antwort nachricht|originalnachricht|original-nachricht|weitergeleitete nachricht|ursprüngliche mail",
    "message d'origine|message d’origine|message original|message transféré|message réexpédié|courriel original",
    "mensaje original|mensaje reenviado|messaggio originale|messaggio inoltrato|messaggio inoltrata",
    "oorspronkelijk bericht|origineel bericht|doorgestuurd bericht|mensagem original|mensagem encaminhada|mensagem reencaminhada",
    "ursprungligt meddelande|originalmeddelande|vidarebefordrat meddelande|oprindelig meddelelse|videresendt meddelelse",
    "opprinnelig melding|videresendt melding|alkuperäinen viesti|välitetty viesti|oryginalna wiadomość|wiadomość oryginalna",
    "wiadomość przekazana|przekazana wiadomość|původní zpráva|předaná zpráva|přeposlaná zpráva|pôvodná správa|preposlaná správa",
    "eredeti üzenet|továbbított üzenet|mesaj original|mesajul original|mesaj redirecționat|originalna poruka|izvorna poruka",
    "исходное сообщение|пересылаемое сообщение|пересланное сообщение|оригинальное сообщение|вихідне повідомлення|переслане повідомлення",
    "orijinal mesaj|özgün ileti|iletilen mesaj|iletilen ileti|αρχικό μήνυμα|προωθημένο μήνυμα|μήνυμα που προωθήθηκε",
    "元のメッセージ|転送メッセージ|原始邮件|原始郵件|转发邮件|轉寄郵件|转发的邮件|原邮件|원본 메시지|원본 메일|원본 이메일|전달된 메시지",
    "הודעה מקורית|הודעה שהועברה|הודעה מועברת|الرسالة الأصلية|رسالة محولة|thư gốc|tin nhắn gốc|pesan asli|ข้อความต้นฉบับ",
)
KNOWN_MARKER = re.compile(
    rf"[\s*]*[-–—_]{{2,}}\s*(?:(?:please\s+)?(?:{_ORIGINAL})(?:\s+\(\w+\))?\s*:?|\w[^\n]{{0,80}}?\b(?:{_VERBS}))\s*[-–—_]{{2,}}[\s*]*$",
    _FLAGS,
)
MARKER = re.compile(r"\s*\*?[-–—_]{3,}\s*[^\W\d_][^-–—_\n]{2,60}?\s*[-–—_]{2,}\*?\s*$")
_FORWARD_WORDS = _words(
    "begin forwarded message|anfang der weitergeleiteten nachricht|anfang der weitergeleiteten e-mail",
    "début du message réexpédié|début du message transféré|inicio del mensaje reenviado|início da mensagem reencaminhada",
    "início da mensagem encaminhada|inizio messaggio inoltrato|begin doorgestuurd bericht|vidarebefordrat brev",
    "videresendt besked|videresendt melding|välitetty viesti|start på videresendt besked|początek przekazanej wiadomości",
    "начало переадресованного сообщения|пересылаемое сообщение|iletilen ileti başlangıcı|以下是转发的邮件|以下為轉寄郵件|転送されたメッセージ",
    "forwarded by|forwarded message",
)
FORWARD = re.compile(rf"[\s>*_-]*(?:{_FORWARD_WORDS})\b.{{0,80}}$|[\s>*_-]*(?:{_FORWARD_WORDS})\s*[:：]", _FLAGS)
# Asked of a line that is known to mark a mail.
FORWARDED = re.compile(
    _words(
        "forward|weitergeleitet|réexpédié|transféré|reenviado|inoltrat|doorgestuurd|encaminhada|reencaminhada|vidarebefordrat|videresendt",
        "välitetty|przekazan|předaná|přeposlaná|preposlaná|továbbított|redirecționat|пересылаемое|переадресованного|пересланное|переслане",
        "iletilen|προωθ|転送|转发|轉寄|전달된|הועברה|מועברת|محولة",
    ),
    _FLAGS,
)
# What ticket systems write into their own mail, so that the answer ends up above it.
REPLY_ABOVE = re.compile(
    r"\W*(?:please\s+|bitte\s+)?(?:(?:reply|respond|write|type)(?:\s+your\s+reply)?\s+above\s+this\s+line"
    r"|(?:antworten?\s+(?:sie\s+)?|schreiben\s+sie\s+)?(?:oberhalb|über)\s+diese[rm]?\s+(?:linie|zeile)"
    r"|répond(?:re|ez)\s+au-dessus\s+de\s+cette\s+ligne|(?:escriba|responda)\s+(?:por\s+)?encima\s+de\s+esta\s+línea"
    # What some servers of companies write above each mail that an answer holds.
    r"|original\s+message\s+processed\s+by)\b.{0,40}$",
    _FLAGS,
)
# "Jo Doe wrote:" without any date: an attribution when quoted lines follow at once.
WEAK = re.compile(rf"(?:[^.!?\n]|\.(?=\w)){{1,100}}?\b(?:{_VERBS})\s*[:：]\s*$", _FLAGS)

_FROM = _words(
    "from|von|de|da|van|от|від|от кого|fra|från|lähettäjä|od|kimden|gönderen|nadawca|odesílatel|odosielateľ|expéditeur|remitente|mittente|afzender|发件人|寄件者|寄件人|差出人|보낸 사람|보낸사람|από|מאת|من|feladó|de la|pošiljatelj|absender|отправитель|saatja|no|nuo",
    "từ|dari|daripada|จาก|از|से|प्रेषक|frå|frá|nork|од|шаље|податель",
)
_DATE = _words(
    "sent|date|message du|gesendet|datum|envoyé|envoyé le|date d'envoi|enviado|enviado el|enviada|enviada em|enviado em|data|inviato|inviato il|verzonden|skickat|sendt|dato|wysłano|data wysłania|odesláno|dátum|отправлено|дата|надіслано|lähetetty|päivämäärä|päiväys|gönderildi|gönderme tarihi|tarih|fecha|发送时间|发送日期|日期|寄件日期|時間|送信日時|日付|보낸 날짜|날짜|ημερομηνία|στάλθηκε|נשלח|תאריך|التاريخ|تم الإرسال|elküldve|trimis|poslano|kuupäev|gesendet am|date et heure",
    "изпратено|nosūtīts|datums|saatmisaeg|saadetud|enviat|enviat el|đã gửi|ngày|terkirim|dikirim|tanggal|dihantar|tarikh|ส่งเมื่อ|วันที่|ارسال شده|تاریخ",
    "भेजा गया|दिनांक|bidaltze-data|poslato|послато|датум|išsiųsta|odoslané|تاريخ الإرسال",
)
_TO = _words(
    "to|an|à|para|a|aan|till|til|do|komu|кому|vastaanottaja|kime|alıcı|收件人|收件者|宛先|받는 사람|받는사람|προς|אל|إلى|címzett|către|za|pour|destinataire|destinatario|per|empfänger|kam|kellele",
    "до|adressaat|per a|tới|đến|untuk|kepada|ถึง|به|को|प्रति|nori|за",
)
_SUBJECT = _words(
    "subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|emne|temat|předmět|predmet|тема|aihe|konu|主题|主旨|件名|제목|θέμα|נושא|الموضوع|tárgy|subiect|sujet|teema|tema|zadeva",
    "относно|tēma|assumpte|chủ đề|tiêu đề|subjek|perihal|เรื่อง|موضوع|विषय|efni|gaia|наслов",
)
_OTHER = _words(
    "cc|bcc|kopie|copie|copie à|copia|kopia|kopi|копия|копія|bilgi|抄送|副本|참조|κοιν|עותק|نسخة|reply-to|reply to|antwort an|répondre à|risposta|rispondi a|responder a|antwoord aan|svar til|importance|wichtigkeit|importancia|priority|priorität|attachments|anlagen|anhänge|pièces jointes|adjuntos|allegati|bijlagen|organisation|organization|newsgroups|message-id|to cc"
)
HEADER = re.compile(
    rf"[\s>*_|]*(?:(?P<from>{_FROM})|(?P<date>{_DATE})|(?P<to>{_TO})|(?P<subject>{_SUBJECT})|(?P<other>{_OTHER}))[*_\s\xa0]*[:：][*_]*(?:\s|$|[^\s/])",
    _FLAGS,
)

# A known marker where a program has lost the line break behind it: "--- Original message ---From: Jo".
RUN_ON_MARKER = re.compile(
    rf"[\s*]*[-–—_]{{2,}}\s*(?:{_ORIGINAL})\s*[-–—_]{{2,}}[\s*]*(?:{_FROM}|{_DATE}|{_SUBJECT})[*\s\xa0]*[:：]", _FLAGS
)
# Of two header lines alone, a date must be one that no person types: with a time of day.
CLOCK = re.compile(r"\d{1,2}:\d{2}")

SIGNATURE_DASHES = re.compile(r"\s*(?:--|—|–)\s*$")
DELIMITER = re.compile(r"\s*(?:[-_=*~#+—–‐]\s?){3,}$")
BOILERPLATE = re.compile(
    r"\W*(?:to unsubscribe|unsubscribe|you received this (?:message|e-?mail)|this e-?mail (?:has been|was|and any|is|message)|this message (?:has been|and any|is|may)"
    r"|confidential|disclaimer|reply to this email|view it on|visit topic|virus-free|scanned by|diese e-?mail|ce message|este (?:mensaje|correo|e-?mail)|questo messaggio"
    r"|please consider the environment|avast|um sich abzumelden|pour se désabonner)",
    _FLAGS,
)
# What stands in a signature and seldom elsewhere: a number to call, an address, a site, a form of company.
CONTACT = re.compile(
    r"(?:(?:^|[\s:(])\+\s?\d|^\(?0\d)[\d\s()/.-]{5,18}\d(?!\d)|(?<![\w.])(?:tel|phone|fon|telefon|téléphone|teléfono|telefoon|mobil\w*|mob|cell|fax|тел|телефон)\b\W{0,4}\d?"
    r"|[^\s@]{1,60}@[\w-]{1,60}\.\w{2}|https?://|\bwww\.|^[\w-]{2,40}\.(?:com|org|net|de|eu|io|co\.uk|fr|it|es|nl|pl|at|ch)$"
    r"|\b(?:gmbh|ltd|limited|inc|llc|plc|e\.?\s?k|s\.?a\.?r\.?l|s\.?r\.?l|s\.?p\.?a|b\.?v|oy|ab|a/s|aps|sp\. z o\.o|s\.r\.o|kft|ооо)(?!\w)",
    _FLAGS,
)
# What joins the words of a role: "Head of Sales".
JOINING = _each("of and for und für et e y en og och i a")
ITEM = re.compile(r"\s*(?:\d{1,3}[.)]\s|[-*•–]\s|\w\)\s)")
ADDRESSES = re.compile(r"\S*(?:@|://|www\.)\S*|^[\w.-]+\.\w{2,3}$")
