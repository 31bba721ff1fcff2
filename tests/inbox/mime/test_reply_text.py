"""What the writer added, in the languages and programs of the world; and what must never be taken off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbox.mime.parsing import parse
from inbox.mime.reply_text import reply_text
from tests.growth import grows_in_proportion

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpora" / "reply-trimmer"
PERSON = "Jo Doe <jo@example.org>"

ATTRIBUTIONS = {
    "English": f"On Tue, Mar 3, 2026 at 10:14 AM {PERSON} wrote:",
    "English, Apple": "On 3 Mar 2026, at 10:14, Jo Doe wrote:",
    "English, 24 hours": f'On 2026-03-03 10:14, "Jo" {PERSON} wrote:',
    "German": f"Am Di., 3. März 2026 um 10:14 Uhr schrieb {PERSON}:",
    "German, verb first": f"{PERSON} schrieb am Di., 3. März 2026, 10:14:",
    "German, Thunderbird": "Am 03.03.26 um 10:14 schrieb Jo Doe:",
    "French": f"Le mar. 3 mars 2026 à 10:14, {PERSON} a écrit :",
    "Spanish": f"El mar, 3 mar 2026 a las 10:14, {PERSON} escribió:",
    "Portuguese": f"Em ter., 3 de mar. de 2026 às 10:14, {PERSON} escreveu:",
    "Portuguese, Portugal": f"{PERSON} escreveu no dia terça, 3/03/2026 à(s) 10:14:",
    "Italian": f"Il giorno mar 3 mar 2026 alle ore 10:14 {PERSON} ha scritto:",
    "Dutch": f"Op di 3 mrt 2026 om 10:14 schreef {PERSON}:",
    "Dutch, with participle": f"Op 3 mrt. 2026 10:14 heeft {PERSON} het volgende geschreven:",
    "Swedish": f"Den tis 3 mars 2026 kl 10:14 skrev {PERSON}:",
    "Danish": f"Den tir. 3. mar. 2026 kl. 10.14 skrev {PERSON}:",
    "Norwegian": f"tir. 3. mar. 2026 kl. 10:14 skrev {PERSON}:",
    "Finnish": f"ti 3. maalisk. 2026 klo 10.14 {PERSON} kirjoitti:",
    "Polish": f"wt., 3 mar 2026 o 10:14 {PERSON} napisał(a):",
    "Polish, w dniu": "W dniu 3.03.2026 o 10:14, Jo Doe pisze:",
    "Czech": f"út 3. 3. 2026 v 10:14 odesílatel {PERSON} napsal:",
    "Slovak": f"ut 3. 3. 2026 o 10:14 {PERSON} napísal(a):",
    "Hungarian": f"{PERSON} ezt írta (időpont: 2026. márc. 3., K, 10:14):",
    "Romanian": f"mar., 3 mar. 2026 la 10:14, {PERSON} a scris:",
    "Turkish": f"{PERSON}, 3 Mar 2026 Sal, 10:14 tarihinde şunu yazdı:",
    "Russian": f"вт, 3 мар. 2026 г. в 10:14, {PERSON}:\nнаписал:",
    "Russian, Mail.ru": f"3 марта 2026 г., 10:14 пользователь {PERSON} написал:",
    "Ukrainian": f"вт, 3 бер. 2026 р. о 10:14 {PERSON} пише:",
    "Greek": f"Στις Τρί 3 Μαρ 2026 στις 10:14 π.μ., ο χρήστης {PERSON} έγραψε:",
    "Japanese": f"2026年3月3日(火) 10:14 {PERSON}のメール:",
    "Chinese": "Jo Doe <jo@example.org> 于2026年3月3日周二 10:14写道：",
    "Chinese, traditional": f"{PERSON} 於 2026年3月3日 週二 上午10:14寫道：",
    "Korean": f"2026년 3월 3일 (화) 오전 10:14, {PERSON}님이 작성:",
    "Hebrew": f"\u200fבתאריך יום ג׳, 3 במרץ 2026 ב-10:14 מאת {PERSON} כתב:",
    "Vietnamese": f"Vào Th 3, 3 thg 3, 2026 vào lúc 10:14 {PERSON} đã viết:",
    "Croatian": f"uto, 3. ožu 2026. u 10:14 {PERSON} napisao je:",
    "Russian, no verb": f"вт, 3 мар. 2026 г. в 10:14, {PERSON}:",
    "Russian, Mail.ru, no verb": f"Вторник, 3 марта 2026, 10:14 +03:00 от {PERSON}:",
    "Russian, Yandex": '03.03.2026, 10.14, "Jo Doe" <jo@example.org>:',
    "Mail.ru in English": f"Tuesday, 3 March 2026, 10:14 AM +0300 from {PERSON}:",
    "Japanese, no verb": f"2026年3月3日(火) 10:14 {PERSON}:",
    "Hebrew, with marks of direction": "\u202bבתאריך יום ג׳, 3 במרץ 2026 ב-10:14 מאת \u202aJo Doe\u202c\u200f <\u202ajo@example.org\u202c\u200f>:\u202c",
    "Hebrew, Apple": f"\u200fב-3 במרץ 2026, בשעה 10:14, {PERSON} כתב/ה:",
    "Arabic": f"في الثلاثاء، 3 مارس 2026 في 10:14 ص تمت كتابة ما يلي بواسطة {PERSON}:",
    "Arabic, its digits": f"في ٣ مارس ٢٠٢٦، الساعة ١٠:١٤ ص، كتب {PERSON}:",
    "Persian": f"در تاریخ سه‌شنبه ۳ مارس ۲۰۲۶،\u200f ۱۰:۱۴ {PERSON} نوشت:",
    "Hindi": f"मंगल, 3 मार्च 2026 को 10:14 am बजे को {PERSON} ने लिखा:",
    "Thai": f"ในวันที่ อ. 3 มี.ค. 2026 เวลา 10:14 {PERSON} เขียนว่า:",
    "Indonesian": f"Pada Sel, 3 Mar 2026 pukul 10.14 {PERSON} menulis:",
    "Bulgarian": f"На вт, 3.03.2026 г. в 10:14 {PERSON} написа:",
    "Slovenian": f"V V tor., 3. mar. 2026 ob 10:14 je oseba {PERSON} napisala:",
    "Serbian": f"уто, 3. мар 2026. у 10:14 {PERSON} је написао/ла:",
    "Lithuanian": f"2026-03-03, an, 10:14 {PERSON} rašė:",
    "Latvian": "otrd., 2026. g. 3. marts, plkst. 10:14 — lietotājs Jo Doe (<jo@example.org>) rakstīja:",
    "Estonian": "Kuupäev T, 3. märts 2026 kell 10:14 kirjutas Jo Doe (<jo@example.org>):",
    "Catalan": f"Missatge de {PERSON} del dia dt., 3 de març 2026 a les 10:14:",
    "Polish, Apple": f"Wiadomość napisana przez {PERSON} w dniu 3 mar 2026, o godz. 10:14:",
    "Czech, no verb": f"3. 3. 2026 v 10:14, {PERSON}:",
    "German, Yahoo": f"Am Dienstag, 3. März 2026 um 10:14:00 MEZ hat {PERSON} Folgendes geschrieben:",
    "Hungarian, Thunderbird": "2026. 03. 03. 10:14 keltezéssel, Jo Doe írta:",
    "Portuguese, Thunderbird": "Às 10:14 de 03/03/2026, Jo Doe escreveu:",
    "Finnish, Thunderbird": "Jo Doe kirjoitti 3.3.2026 klo 10.14:",
    "Korean, Thunderbird": "2026-03-03 오전 10:14에 Jo Doe 이(가) 쓴 글:",
    "NetEase": '在2026年03月03日 10:14，"Jo Doe"<jo@example.org> 写道：',
    "with seconds, no address": "On Tue, Mar 03, 2026 at 10:14:17AM +0100, Jo Doe wrote:",
    "Eudora": "At 10:14 AM 3/3/2026, you wrote:",
    "GroupWise": '>>> "Jo Doe" <jo@example.org> 3/3/2026 10:14 AM >>>',
    "Notes": "Jo Doe ---03/03/2026 10:14:17 AM---Your order",
    "Zoho, bare": f"On Tue, 03 Mar 2026 10:14:17 +0530 {PERSON} wrote",
    "a company": "On Tue, Mar 3, 2026 at 10:14 AM The Parcel People <\njo@example.org> wrote:",
    "wrapped within the date": f"On Mar 3, 2026,\nat 10:14,\n{PERSON} wrote:",
    "ISO date, no verb": f"2026-03-03 10:14 GMT+01:00 {PERSON}:",
    "Zoho": "---- On Tue, 03 Mar 2026 10:14:17 +0530 Jo Doe&lt;jo@example.org&gt; wrote ----",
    "Usenet": "In article <1@example.org> of 3 Mar 2026, Jo Doe wrote:",
    "Russian, a day without a time": "вторник, 3 марта 2026 г. пользователь jo написал:",
    "German, a day without a time": "Dienstag, 3. März 2026, Jo Doe schrieb:",
    "time zone, no address": "2026-03-03 10:14 GMT+01:00 Jo Doe",
    "address, no date": "Jo Doe <jo@example.org> wrote:",
    "address, no date, French": "Jo Doe <jo@example.org> a écrit :",
    "sent": "On 3 Mar 2026, at 10:14, Jo Doe <jo@example.org> sent:",
    "digits in a wrapped address": 'On Mar 3, 2026 10:14 AM, "Shop" <\n r+7f1b094ceb90@example.org> wrote:',
    "wrapped": "On Tue, Mar 3, 2026 at 10:14 AM Jo Doe <\njo@example.org> wrote:",
    "wrapped twice": "Am Dienstag, dem 3. März 2026 um 10:14 Uhr schrieb Jo\nDoe von der langen Firma mit dem langen Namen\n<jo@example.org>:",
}

# Without a time of day and an address a person may have typed it: only the quoted lines below make it an attribution.
WITH_QUOTED_LINES_ONLY = {"Russian, a day without a time", "German, a day without a time"}

HEADER_BLOCKS = {
    "English": "From: Jo Doe <jo@example.org>\nSent: Tuesday, March 3, 2026 10:14 AM\nTo: Ann\nSubject: RE: Order",
    "English, bold": "*From:* Jo Doe\n*Sent:* Tuesday\n*To:* Ann\n*Subject:* Order",
    "English, wrapped": "From: Jo Doe <jo@example.org>\nSent: Tuesday\nTo: Ann <ann@example.org>; Bob\n <bob@example.org>\nSubject: Order",
    "German": "Von: Jo Doe <jo@example.org>\nGesendet: Dienstag, 3. März 2026 10:14\nAn: Ann\nBetreff: AW: Bestellung",
    "French": "De : Jo Doe <jo@example.org>\nEnvoyé : mardi 3 mars 2026 10:14\nÀ : Ann\nObjet : Commande",
    "Spanish": "De: Jo Doe <jo@example.org>\nEnviado el: martes, 3 de marzo de 2026 10:14\nPara: Ann\nAsunto: Pedido",
    "Portuguese": "De: Jo Doe <jo@example.org>\nEnviada em: terça-feira, 3 de março de 2026 10:14\nPara: Ann\nAssunto: Pedido",
    "Italian": "Da: Jo Doe <jo@example.org>\nInviato: martedì 3 marzo 2026 10:14\nA: Ann\nOggetto: Ordine",
    "Dutch": "Van: Jo Doe <jo@example.org>\nVerzonden: dinsdag 3 maart 2026 10:14\nAan: Ann\nOnderwerp: Bestelling",
    "Swedish": "Från: Jo Doe <jo@example.org>\nSkickat: den 3 mars 2026 10:14\nTill: Ann\nÄmne: Order",
    "Danish": "Fra: Jo Doe <jo@example.org>\nSendt: 3. marts 2026 10:14\nTil: Ann\nEmne: Ordre",
    "Polish": "Od: Jo Doe <jo@example.org>\nWysłano: wtorek, 3 marca 2026 10:14\nDo: Ann\nTemat: Zamówienie",
    "Russian": "От: Jo Doe <jo@example.org>\nОтправлено: 3 марта 2026 г. 10:14\nКому: Ann\nТема: Заказ",
    "Finnish": "Lähettäjä: Jo Doe <jo@example.org>\nLähetetty: tiistai 3. maaliskuuta 2026\nVastaanottaja: Ann\nAihe: Tilaus",
    "Turkish": "Kimden: Jo Doe <jo@example.org>\nGönderildi: 3 Mart 2026 Salı 10:14\nKime: Ann\nKonu: Sipariş",
    "Chinese": "发件人: Jo Doe <jo@example.org>\n发送时间: 2026年3月3日 10:14\n收件人: Ann\n主题: 订单",
    "Japanese": "差出人: Jo Doe <jo@example.org>\n送信日時: 2026年3月3日 10:14\n宛先: Ann\n件名: 注文",
    "Bulgarian": "От: Jo Doe <jo@example.org>\nИзпратено: вторник, 3 март 2026 г. 10:14\nДо: Ann\nОтносно: Поръчка",
    "Latvian": "No: Jo Doe <jo@example.org>\nNosūtīts: otrdiena, 2026. gada 3. marts 10:14\nKam: Ann\nTēma: Pasūtījums",
    "Estonian": "Saatja: Jo Doe <jo@example.org>\nSaatmisaeg: teisipäev, 3. märts 2026 10:14\nAdressaat: Ann\nTeema: Tellimus",
    "Catalan": "De: Jo Doe <jo@example.org>\nEnviat el: dimarts, 3 de març de 2026 10:14\nPer a: Ann\nAssumpte: Comanda",
    "Vietnamese": "Từ: Jo Doe <jo@example.org>\nĐã gửi: Thứ Ba, ngày 3 tháng 3 năm 2026 10:14\nTới: Ann\nChủ đề: Đơn hàng",
    "Indonesian": "Dari: Jo Doe <jo@example.org>\nTerkirim: Selasa, 3 Maret 2026 10:14\nUntuk: Ann\nSubjek: Pesanan",
    "Malay": "Daripada: Jo Doe <jo@example.org>\nDihantar: Selasa, 3 Mac 2026 10:14\nKepada: Ann\nSubjek: Pesanan",
    "Thai": "จาก: Jo Doe <jo@example.org>\nส่งเมื่อ: วันอังคารที่ 3 มีนาคม 2026 10:14\nถึง: Ann\nเรื่อง: คำสั่งซื้อ",
    "Persian": "از: Jo Doe <jo@example.org>\nارسال شده: سه‌شنبه 3 مارس 2026 10:14\nبه: Ann\nموضوع: سفارش",
    "Hindi": "से: Jo Doe <jo@example.org>\nभेजा गया: मंगलवार, 3 मार्च 2026 10:14\nको: Ann\nविषय: आदेश",
    "Nynorsk": "Frå: Jo Doe <jo@example.org>\nSendt: tysdag 3. mars 2026 10:14\nTil: Ann\nEmne: Bestilling",
    "Icelandic": "Frá: Jo Doe <jo@example.org>\nSent: þriðjudagur, 3. mars 2026 10:14\nTil: Ann\nEfni: Pöntun",
    "Basque": "Nork: Jo Doe <jo@example.org>\nBidaltze-data: asteartea, 2026.eko martxoaren 3a 10:14\nNori: Ann\nGaia: Eskaera",
    "two lines, with a time": "From: jo@example.org\nDate: Tue, 3 Mar 2026 10:14:17 -0600",
    "two lines, no sender": "Date: Tue, 3 Mar 2026 10:14:17 -0600\nTo: ann@example.org",
    "below words nobody knows": "----- Hōʻike kumu -----\nFrom: Jo Doe <jo@example.org>\nSent: Tuesday\nTo: Ann\nSubject: Order",
    "underscores above": "________________________________\nFrom: Jo Doe <jo@example.org>\nSent: Tuesday\nTo: Ann\nSubject: Order",
}

MARKERS = [
    "-----Original Message-----", "-------- Original Message --------", "----- Forwarded Message -----", "---------- Forwarded message ---------",
    "-----Ursprüngliche Nachricht-----", "-------- Weitergeleitete Nachricht --------", "-----Message d'origine-----", "-----Mensaje original-----",
    "-----Messaggio originale-----", "-----Oorspronkelijk bericht-----", "-----Mensagem original-----", "-----Ursprungligt meddelande-----",
    "-----Oprindelig meddelelse-----", "-----Oryginalna wiadomość-----", "-----Исходное сообщение-----", "------------------ 原始邮件 ------------------",
    "-----Antwort Nachricht-----", "---- Jo Doe wrote ----", "--- Jo Doe schrieb ---",
    "## Reply above this line ##", "-- Please reply above this line --", "Bitte antworten Sie oberhalb dieser Linie",
    "Begin forwarded message:", "Anfang der weitergeleiteten Nachricht:", "Début du message réexpédié :", "Inizio messaggio inoltrato:",
]  # fmt: skip

DEVICES = [
    "Sent from my iPhone", "Sent from my Galaxy S23", "Sent from Outlook for iOS", "Sent from Mail for Windows", "Sent via mobile", "Von meinem iPhone gesendet",
    "Gesendet von Mail für Windows", "Gesendet mit der GMX Mail App", "Envoyé de mon iPhone", "Envoyé depuis mon mobile", "Enviado desde mi iPhone",
    "Enviado do meu iPhone", "Inviato da iPhone", "Verstuurd vanaf mijn iPhone", "Skickat från min iPhone", "Sendt fra min iPhone", "Wysłane z iPhone'a",
    "Отправлено с iPhone", "Lähetetty iPhonesta", "iPhone'umdan gönderildi", "iPhoneから送信", "发自我的iPhone", "從我的 iPhone 傳送", "Get Outlook for Android",
    "Outlook für iOS beziehen\nSent from my iPad", "Diese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.", "<<sent by galaxy>>", "Odesláno z iPhonu", "Yahoo!メール から送信", "来自我的华为手机", "내 Galaxy에서 보냄", "Gửi từ iPhone của tôi", "ส่งจาก iPhone ของฉัน", "נשלח מה-iPhone שלי",
    "أُرسلت من الـ iPhone", "Poslano z mojega iPhona", "Изпратено от моя iPhone", "Saadetud minu iPhone'ist", "Išsiųsta iš mano iPhone", "Enviat des del meu iPhone",
    "Get BlueMail for Android", "Obtenga Outlook para Android", "Pobierz aplikację Outlook dla systemu Android", "Få Outlook för iOS", "Outlook voor Android downloaden",
    "iOS 版 Outlook を入手", "Android için Outlook uygulamasını edinin", "Sent from Postbird<https://postbird.example/get?id=2621>",
]  # fmt: skip


@pytest.mark.parametrize("language", ATTRIBUTIONS)
def test_attribution_with_quoted_mail_below(language: str) -> None:
    result = reply_text(f"Yes, please.\n\nAnn\n\n{ATTRIBUTIONS[language]}\n\n> Shall we ship it?\n> Jo\n")
    assert result.text == "Yes, please.\n\nAnn"
    assert "Shall we ship it?" in result.quoted


@pytest.mark.parametrize("language", sorted(ATTRIBUTIONS.keys() - WITH_QUOTED_LINES_ONLY))
def test_attribution_with_unmarked_mail_below(language: str) -> None:
    assert reply_text(f"Yes, please.\n{ATTRIBUTIONS[language]}\n\nShall we ship it?\nJo\n").text == "Yes, please."


@pytest.mark.parametrize("language", ATTRIBUTIONS)
def test_answer_below_the_quote(language: str) -> None:
    assert reply_text(f"{ATTRIBUTIONS[language]}\n> Shall we ship it?\n\nYes, please.\n").text == "Yes, please."


WRAPPED = sorted(name for name, line in ATTRIBUTIONS.items() if " <jo@" in line and line.endswith((":", "：")))


@pytest.mark.parametrize("language", WRAPPED)
def test_attribution_wrapped_before_the_address(language: str) -> None:
    wrapped = ATTRIBUTIONS[language].replace(" <jo@", "\n<jo@")
    for below in ("Shall we ship it?\nJo", "> Shall we ship it?\n> Jo"):
        assert reply_text(f"Yes, please.\n\n{wrapped}\n\n{below}\n").text == "Yes, please."


@pytest.mark.parametrize(
    "line", [f"Answer to {PERSON}:", f"Antwort an {PERSON}:", "Answer to Jo Doe\n<jo@example.org>:"]
)
def test_address_without_a_date_or_a_verb_counts_before_quoted_lines_only(line: str) -> None:
    assert reply_text(f"Yes.\n\n{line}\n\n> Ship?\n").text == "Yes."
    assert reply_text(f"Yes.\n\n{line}\n\nShip?\n").text == f"Yes.\n\n{line}\n\nShip?"


def test_quoted_lines_with_the_name_of_who_wrote_them() -> None:
    text = "Yes.\n\nOn Tue, Mar 3, 2026, at 10:14 AM, jo_doe wrote:\n\nJo> Shall we ship it?\nJo> Today?\n"
    assert reply_text(text).text == "Yes."


@pytest.mark.parametrize("language", HEADER_BLOCKS)
def test_header_block(language: str) -> None:
    assert reply_text(f"Yes, please.\n\n{HEADER_BLOCKS[language]}\n\nShall we ship it?\n").text == "Yes, please."


@pytest.mark.parametrize("marker", MARKERS)
def test_marker(marker: str) -> None:
    assert reply_text(f"Yes, please.\n\n{marker}\nShall we ship it?\n").text == "Yes, please."


@pytest.mark.parametrize("line", DEVICES)
def test_device_line(line: str) -> None:
    result = reply_text(f"Yes, please.\n\n{line}\n")
    assert result.text in {"Yes, please.", "Yes, please.\n\nOutlook für iOS beziehen"}
    assert result.signature


@pytest.mark.parametrize("dashes", ["-- ", "--", "—", "_____"])
def test_signature(dashes: str) -> None:
    result = reply_text(f"Yes, please.\n\n{dashes}\nAnn Example\n+44 20 7946 0000\n")
    assert (result.text, result.signature.splitlines()[1:]) == ("Yes, please.", ["Ann Example", "+44 20 7946 0000"])


KEPT = {
    "one word": "Yes",
    "only a quote": "> Email with only a quote.",
    "only a forwarded mail": "---------- Forwarded message ---------\nFrom: a@b.example\nSubject: x\n\nPlease help.",
    "only a device line": "Sent from my iPhone",
    "a table of a journey": "My booking:\n\nFrom: Berlin\nTo: Paris\nDate: 3 May 2026\n\nCan I change it?",
    "a colon after a date": "On Monday 3 May we agreed on this:\n\n1. ship\n2. bill\n\nIs it done?",
    "a sentence with wrote": "Your colleague wrote to me on 3 May.\nI have not answered yet.",
    "a rule between paragraphs": "First, a longer paragraph about the order and the parcel that never came.\n\n---\n\n"
    "Second, another longer paragraph about the money that was taken twice from my account.",
    "code with hashes": "Look:\n\n```\n# a comment\n####\nmake it so\n```\n\nIt fails.",
    "a phone in a sentence": "I cannot sign in any more\nfrom my iPhone since the last update, only from my laptop it works",
    "a heading between hyphens": "Here it is.\n\n----- Delivery address -----\n\nJo Doe, 3 Long Street",
    "a form": "Please read below.\n\n---------- Enter Feedback Below ----------\n\nIt was good.",
    "two lines of a journey": "My booking:\n\nFrom: Berlin\nDate: 3 May 2026\n\nCan I change it?",
    "a list": "I need:\n\n- one\n- two\n* three",
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_words_of_the_writer_stay(name: str) -> None:
    assert reply_text(KEPT[name]).text == KEPT[name]


def test_answers_between_the_quotes_stay_with_them() -> None:
    text = "On 3 Mar 2026, at 10:14, Jo wrote:\n\n> One?\n\nFirst answer.\n\n> Two?\n\nSecond answer.\n"
    assert reply_text(text).text == "> One?\n\nFirst answer.\n\n> Two?\n\nSecond answer."


def test_answers_between_the_quotes_stay_below_an_introduction() -> None:
    text = "See below.\n\nOn 3 Mar 2026, at 10:14, Jo wrote:\n\n> One?\n\nFirst answer.\n\n> Two?\n\nSecond answer.\n"
    result = reply_text(text).text
    assert result.startswith("See below.")
    assert "First answer." in result
    assert "Second answer." in result


@pytest.mark.parametrize("line", ["Jo Doe wrote:", "Jo Doe schrieb:", "Jo a écrit :"])
def test_attribution_without_date_and_address_counts_before_quoted_lines_only(line: str) -> None:
    assert reply_text(f"Yes.\n\n{line}\n> Ship?\n").text == "Yes."
    assert reply_text(f"Yes.\n\n{line}\n\nShip?\n").text == f"Yes.\n\n{line}\n\nShip?"


@pytest.mark.parametrize(
    "line", ["On Tue, 3 Mar 2026 at 10:14, Jo Doe wrote:", "--- On Tue, 3 Mar 2026, jo@example.org wrote:"]
)
def test_attribution_whose_line_break_was_lost(line: str) -> None:
    """The writer's words before it are not taken away with it."""
    for below in ("> Ship?\n", "\nShip?\n"):
        assert reply_text(f"Yes, please. {line}\n{below}").text == "Yes, please."
    assert reply_text("I met Jo. On Monday 3 May we agreed on this:\n\nShip it.").text.startswith("I met Jo. On Monday")


def test_dot_of_a_tracker_is_not_shown() -> None:
    assert reply_text("Yes, please.\n\n\u1427\n").text == "Yes, please."


def test_signature_after_the_quote_is_no_answer() -> None:
    text = "Fine.\n\nOn 3 Mar 2026, at 10:14, Jo wrote:\n> One?\n\n-- \nAnn\n"
    assert reply_text(text).text == "Fine."


def test_list_footer_after_the_quote_is_no_answer() -> None:
    text = "Fine.\n\nOn 3 Mar 2026, at 10:14, Jo wrote:\n> One?\n\nTo unsubscribe from this list write to x@y.example\n"
    assert reply_text(text).text == "Fine."


@pytest.mark.parametrize(
    "html",
    [
        '<div>Yes.</div><div class="gmail_quote"><div class="gmail_attr">On Tue Jo wrote:</div><blockquote>Ship?</blockquote></div>',
        '<p>Yes.</p><blockquote type="cite">Ship?</blockquote>',
        '<div>Yes.</div><div id="appendonsend"></div><hr><div id="divRplyFwdMsg">From: Jo</div><div>Ship?</div>',
        '<div>Yes.</div><div style="border:none;border-top:solid #E1E1E1 1.0pt"><p>From: Jo</p></div><p>Ship?</p>',
        '<p>Yes.</p><div class="yahoo_quoted">Ship?</div>',
        "<div>Yes.<hr><b>From: </b>jo@b.example<br><b>Sent: </b>3 May<br><b>Subject: </b>x<br><br>Ship?</div>",
        '<p>Yes.</p><div class="moz-cite-prefix">On 3.3. Jo wrote:</div><blockquote cite="mid:x">Ship?</blockquote>',
    ],
)
def test_html_without_the_mail_it_answers(html: str) -> None:
    mail = parse(
        f"Subject: Re: x\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html><body>{html}</body></html>".encode()
    )
    assert mail.reply_text == "Yes."
    assert "Ship?" in mail.text


def test_html_that_is_nothing_but_a_quote_is_shown() -> None:
    mail = parse(b"Content-Type: text/html\r\n\r\n<blockquote type='cite'>Ship?</blockquote>")
    assert mail.reply_text == "Ship?"


PIECES = [*"> \n:-_abO1@<.", "On 1.1.2026 ", " wrote:", "From: ", "-- ", "Subject: x\n", "To: x\n", "```\n"]


@given(st.lists(st.sampled_from(PIECES), max_size=200).map("".join))
@settings(max_examples=300, deadline=None)
def test_nothing_is_invented_and_nothing_emptied(text: str) -> None:
    result = reply_text(text).text
    assert bool(result) == bool(text.strip())
    lines = [line.strip() for line in text.split("\n")]
    # A line may lose the attribution at its end.
    assert all(any(whole.startswith(line.strip()) for whole in lines) for line in result.split("\n"))


@pytest.mark.parametrize(
    "piece",
    [
        "On 1.1.2026 <",
        "> a\nb\n",
        "From: a@b.example\n",
        "-- \n",
        "a" * 300 + ":\n",
        "(" * 50,
        "-" * 90 + "\n",
        "sent " * 20 + "\n",
        "a <b@c.d " * 35 + "wrote:\n",
        "On 3 " * 70 + ":\n",
        "x -- On 3" * 40 + ":\n",
    ],
)
def test_a_flood_takes_linear_time(piece: str) -> None:
    assert grows_in_proportion(lambda size: reply_text(piece * (size // len(piece))), 200_000)


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"public mail is not there: {CORPUS}")
def test_public_pairs(cases: Callable[[str, int], None]) -> None:
    files = sorted((CORPUS / "emails").iterdir())
    missed = []
    for file in files:
        expected = (CORPUS / "trimmed" / file.name).read_text("utf-8").replace("\r\n", "\n").strip()
        if reply_text(file.read_bytes().decode()).text.strip() != expected:
            missed.append(file.name)
    assert not missed
    cases(f"public replies as expected, of {len(files)}: ", len(files) - len(missed))
