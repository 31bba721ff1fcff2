"""How mail programs mark the mail they answer, in the languages they speak: patterns only, no decisions."""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE


def _words(*groups: str) -> str:
    return "|".join(re.escape(word) for group in groups for word in group.split("|"))


# "wrote", the verb of an attribution line.
_VERBS = _words(
    "wrote|writes|has written|said",
    "schrieb|schrieben|hat geschrieben",
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
    "je napisao|je napisala|napisao je|napisala je|pravi|je napisal|je napisala",
    "έγραψε|έγραψες",
    "写道|寫道|写到|书写|のメール|さんは書きました|は書きました|wrote(发送)",
    "님이 작성|작성",
    "đã viết|menulis|เขียน|כתב|כתבה|كتب|كتبت",
    "rašė|rakstīja|kirjutas|va escriure|idatzi du|skrifaði",
)
_LEADS = _words(
    "on|am|le|el|op|il|em|no dia|den|på|dnia|w dniu|dne|dňa|în|in data|il giorno|at|pe data de|el día|o dia|em data de",
    "la|dana|στις|vào|pada|vr|za|zo|ma|di|wo|do|mån|tis|tors|fre|lör|sön|man|tir|ons|tor|lør|søn|pon|wt|śr|czw|pt|sob",
    "mon|tue|wed|thu|fri|sat|sun|lun|mar|mer|jeu|ven|sam|dim|в|у|від|от|пн|вт|ср|чт|пт|сб|вс|kl|date|datum",
)
_DATEISH = r"(?:\d{1,2}[:.h]\d{2}|\d{4}|\d{1,2}\s?[./年月]\s?\d{1,2}|\d{1,2}\.?\s+\w{3,12})"

VERB = re.compile(rf"(?:(?<!\w)(?:{_VERBS})(?!\w)|写道|寫道|写到|のメール|書きました|작성)", _FLAGS)
DATEISH = re.compile(_DATEISH, _FLAGS)
LEAD = re.compile(rf"[\W_]*(?:{_LEADS})(?!\w)\W*(?:\w+\W+){{0,4}}?\d|[\W_]*(?:在|於|于)\s*\d", _FLAGS)
DATE_START = re.compile(
    r"[\W_]*(?:\d{4}\s?[-/.年]\s?\d{1,2}\s?[-/.月]|\d{1,2}[-/.\s]+(?:\d{1,2}|\w{3,12}\.?)[-/.,\s]+(?:г\.?|р\.?|de\s)?\s?\d{2,4})",
    _FLAGS,
)
FULL_DATE_START = re.compile(r"[\W_]*\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\s")
MAILBOX = re.compile(r"(?:<|&lt;|\[|\()?(?:mailto:)?[^\s<>@\[\]()]{1,100}@[\w.-]{1,100}\s*(?:>|&gt;|\]|\))?")
ENDS_AS_ATTRIBUTION = re.compile(r"[:：]\s*[>*_\s]*$|-{2,}\s*$")
ENDS_WITH_MAILBOX = re.compile(r"(?:>|&gt;)\s*[:：]?\s*$")

# "----- Original Message -----" in whatever language: words between two runs of hyphens.
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
# What ticket systems write into their own mail, so that the answer ends up above it.
REPLY_ABOVE = re.compile(
    r"\W*(?:please\s+|bitte\s+)?(?:(?:reply|respond|write|type)(?:\s+your\s+reply)?\s+above\s+this\s+line"
    r"|(?:antworten?\s+(?:sie\s+)?|schreiben\s+sie\s+)?(?:oberhalb|über)\s+diese[rm]?\s+(?:linie|zeile)"
    r"|répond(?:re|ez)\s+au-dessus\s+de\s+cette\s+ligne|(?:escriba|responda)\s+(?:por\s+)?encima\s+de\s+esta\s+línea)\b.{0,40}$",
    _FLAGS,
)
# "Jo Doe wrote:" without any date: an attribution when quoted lines follow at once.
WEAK = re.compile(rf"(?:[^.!?\n]|\.(?=\w)){{1,100}}?\b(?:{_VERBS})\s*[:：]\s*$", _FLAGS)

_FROM = _words(
    "from|von|de|da|van|от|від|от кого|fra|från|lähettäjä|od|kimden|gönderen|nadawca|odesílatel|odosielateľ|expéditeur|remitente|mittente|afzender|发件人|寄件者|寄件人|差出人|보낸 사람|보낸사람|από|מאת|من|feladó|de la|pošiljatelj|absender|отправитель|saatja|no|nuo"
)
_DATE = _words(
    "sent|date|gesendet|datum|envoyé|envoyé le|date d'envoi|enviado|enviado el|enviada|enviada em|enviado em|data|inviato|inviato il|verzonden|skickat|sendt|dato|wysłano|data wysłania|odesláno|dátum|отправлено|дата|надіслано|lähetetty|päivämäärä|päiväys|gönderildi|gönderme tarihi|tarih|fecha|发送时间|发送日期|日期|寄件日期|時間|送信日時|日付|보낸 날짜|날짜|ημερομηνία|στάλθηκε|נשלח|תאריך|التاريخ|تم الإرسال|elküldve|trimis|poslano|kuupäev|gesendet am|date et heure"
)
_TO = _words(
    "to|an|à|para|a|aan|till|til|do|komu|кому|vastaanottaja|kime|alıcı|收件人|收件者|宛先|받는 사람|받는사람|προς|אל|إلى|címzett|către|za|pour|destinataire|destinatario|per|empfänger|kam|kellele"
)
_SUBJECT = _words(
    "subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|emne|temat|předmět|predmet|тема|aihe|konu|主题|主旨|件名|제목|θέμα|נושא|الموضوع|tárgy|subiect|sujet|teema|tema|zadeva"
)
_OTHER = _words(
    "cc|bcc|kopie|copie|copie à|copia|kopia|kopi|копия|копія|bilgi|抄送|副本|참조|κοιν|עותק|نسخة|reply-to|reply to|antwort an|répondre à|risposta|rispondi a|responder a|antwoord aan|svar til|importance|wichtigkeit|importancia|priority|priorität|attachments|anlagen|anhänge|pièces jointes|adjuntos|allegati|bijlagen|organisation|organization|newsgroups|message-id|to cc"
)
HEADER = re.compile(
    rf"[\s>*_|]*(?:(?P<from>{_FROM})|(?P<date>{_DATE})|(?P<to>{_TO})|(?P<subject>{_SUBJECT})|(?P<other>{_OTHER}))[*_\s\xa0]*[:：][*_]*(?:\s|$|[^\s/])",
    _FLAGS,
)

# "Sent from my iPhone" and its relatives: always a whole short line.
_DEVICES = r"(?:i-?phone|i-?pad|i-?pod|ios|android|galaxy|samsung|htc|nokia|huawei|xiaomi|pixel|blackberry|windows|mobile?|mobil\w*|handy|smartphone|phone|tablet|tablette|cell\w*|celular|móvil|movil|telefon\w*|téléphone|telefoon|puhelimes\w*|device|mailbox|airmail|outlook|yahoo|gmail|mail|k-9|proton\w*|tutanota|spark|newton|thunderbird|телефона?|айфона|手机|手機|移动设备|行動裝置|スマートフォン)"
_SENT = r"(?:sent|gesendet|verschickt|geschickt|envoyé|envoye|enviado|enviada|inviato|verzonden|verstuurd|skickat|sendt|wysłan[eoy]|wysłano|odesláno|odoslané|отправлено|надіслано|відправлено|lähetetty|gönderildi|trimis|küldve|elküldve|poslano|στάλθηκε|được gửi|dikirim|送信|发送|發送|发自|發自|傳送|보냄)"
DEVICE = re.compile(
    rf"\W*(?:{_SENT}\s+(?:from|via|with|by|using|von|vom|mit|über|aus|depuis|de|du|à partir|desde|con|do|da|dal|dalla|van|met|vanaf|från|fra|med|z|ze|с|со|з|из|från|iPhonestani|puhelimestani|din|cu)\b.{{0,110}}"
    rf"|{_SENT}\b.{{0,40}}\b{_DEVICES}\w{{0,8}}\b.{{0,60}}"
    rf"|(?:\w+\s+)?from\s+(?:my\s+|a\s+)?{_DEVICES}\b.{{0,40}}"
    rf"|(?:von|vom|mit)\s+(?:meine[mr]\s+|unterwegs)?.{{0,60}}\b(?:gesendet|verschickt|geschickt)\b.{{0,30}}"
    rf"|diese\s+(?:nachricht|e-?mail|mail)\s+wurde\s+(?:von|mit)\b.{{0,90}}\b(?:gesendet|verschickt|geschrieben)\b.{{0,20}}"
    rf"|(?:get|obtener|télécharger|téléchargez|obtenez|holen sie sich|laden sie|scarica|download|hämta|hent|pobierz|скачать|загрузить)\b.{{0,20}}\boutlook\b.{{0,100}}"
    rf"|(?:从|從|发自|發自|寄自).{{0,30}}(?:iphone|ipad|android|手机|手機|华为|小米).{{0,30}}|{_DEVICES}から送信.{{0,20}}|.{{0,30}}から送信"
    rf"|나의\s.{{0,30}}에서\s보냄|.{{0,30}}'?(?:dan|den)\s+gönderildi"
    rf")\W*$",
    _FLAGS,
)
SIGNATURE_DASHES = re.compile(r"\s*(?:--|—|–)\s*$")
DELIMITER = re.compile(r"\s*(?:[-_=*~#+—–‐]\s?){3,}$")
QUOTE = re.compile(r"\s{0,3}>")
BAR_QUOTE = re.compile(r"\s{0,3}\|(?:\s|$)")
FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
BOILERPLATE = re.compile(
    r"\W*(?:to unsubscribe|unsubscribe|you received this (?:message|e-?mail)|this e-?mail (?:has been|was|and any|is|message)|this message (?:has been|and any|is|may)"
    r"|confidential|disclaimer|reply to this email|view it on|visit topic|virus-free|scanned by|diese e-?mail|ce message|este (?:mensaje|correo|e-?mail)|questo messaggio"
    r"|please consider the environment|avast|um sich abzumelden|pour se désabonner)",
    _FLAGS,
)
