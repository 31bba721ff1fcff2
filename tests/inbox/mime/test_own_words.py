"""Words of the writer that look like a quote, a signature or a footer, beside what is one: the agent reads only what stays."""

from __future__ import annotations

import pytest

from inbox.mime.reply_text import reply_text

SENTENCES = {
    "English, an order": "Hi,\n\nOn Friday 6 March I need the delivery.\nMy husband wrote to you already.\nPlease note the following:\n"
    "- ring twice\n- leave it at the neighbour's",
    "English, told by hand": "Hello,\n\nOn 3 March 2026 your colleague Anna wrote to me:\n\"The refund will arrive in five days.\"\n\n"
    "It has not arrived. Please cancel everything.",
    "English, a label": "Hi,\n\nOn 12/02/2026 I sent back the shoes. The label says:\n\nRT-4711 Bonn\n\nWhere is my money?",
    "English, an address told": "Hi,\n\nI wrote to jo@shop.example on 3 March at 10:15 and asked:\nWhere is it?\n\nNobody answered.",
    "English, a passive": "Hi,\n\nOn 3 March the invoice for jo@shop.example was sent:\n\nNo. 5, which is wrong.",
    "English, two sentences": "Hi,\n\nOn 3 March 2026 at 10:15 it rang.\nJo Doe wrote:\n\nNot at home\n\nBut somebody was.",
    "German": "Guten Tag,\n\nam 3. März habe ich bei Ihnen angerufen. Ihr Kollege schrieb mir danach. Meine Fragen sind:\n\n1. Wann?\n2. Wie?",
    "German, a colleague": "Guten Tag,\n\nam 3. März um 10:15 schrieb Ihr Kollege:\n\nDas Geld ist unterwegs.\n\nEs kam nie an.",
    "French": "Bonjour,\n\nLe 3 mars 2026 vous m'avez écrit que :\n\nle colis arrive vendredi.\n\nIl n'est pas là.",
    "Spanish": "Hola,\n\nEl 3 de marzo de 2026 su compañera escribió:\n\nLlega mañana.\n\nNo ha llegado.",
    "Portuguese": "Olá,\n\nEm 3 de março de 2026 o seu colega escreveu:\n\nChega amanhã.\n\nNão chegou.",
    "Italian": "Buongiorno,\n\nIl 3 marzo 2026 la collega ha scritto:\n\nIl pacco arriva venerdì.\n\nNon è arrivato.",
    "Dutch": "Hallo,\n\nOp 3 maart 2026 schreef uw collega:\n\nHet geld komt eraan.\n\nNiets ontvangen.",
    "Swedish": "Hej,\n\nDen 3 mars 2026 skrev din kollega:\n\nPengarna kommer.\n\nDe kom aldrig.",
    "Danish": "Hej,\n\nDen 3. marts 2026 kl. 10.15 skrev jeres kollega:\n\nPengene kommer.\n\nDe kom aldrig.",
    "Polish": "Dzień dobry,\n\nW dniu 3 marca 2026 wasz pracownik napisał:\n\nPaczka dojdzie jutro.\n\nNie doszła.",
    "Czech": "Dobrý den,\n\nDne 3. 3. 2026 váš kolega napsal:\n\nBalík přijde zítra.\n\nNepřišel.",
    "Russian": "Здравствуйте,\n\nВ понедельник 3 марта 2026 ваш коллега написал:\n\nДеньги придут.\n\nИх нет.",
    "Turkish": "Merhaba,\n\nPazartesi 3 Mart 2026 arkadaşınız şunu yazdı:\n\nPara gelecek.\n\nGelmedi.",
    "Hungarian": "Jó napot,\n\nHétfő 3-án, 2026 kollégájuk írta:\n\nA csomag megjön.\n\nNem jött meg.",
    "Finnish": "Hei,\n\nMaanantai 3.3.2026 työntekijänne kirjoitti:\n\nRahat tulevat.\n\nEi tullut.",
    "an appointment": "Guten Tag,\n\nTermin am 3. März 2026 um 10:15 mit Jo Doe <jo@shop.example>:\n\nEr kam nicht.",
    "an appointment, English": "Hi,\n\nMeeting on 3 March 2026 at 10:15 with Jo Doe <jo@shop.example>:\n\nNobody came.",
    "a caller": "Hi,\n\nCalled on 3 March 2026 at 10:15:\n\nno answer. Jo Doe wrote nothing.",
    "an address above": "Please write to\n<jo@shop.example> and not to me:\n\nI have moved.",
    "a prompt": "I typed this:\n\nC> dir\n\nand nothing happened.",
    "a place": "Delivered on 3 March 2026, 10:15, to the shop <info@shop.example>:\n\nwrong colour.",
    "Russian, an appointment": "Здравствуйте,\n\nЗапись на 3 марта 2026 в 10:15 к Jo Doe <jo@shop.example>:\n\nНикого не было.",
    "a log": "It crashed.\n\n2026-03-03 10:15:00 worker 3 wrote:\nerror 17\n\nWhat is error 17?",
    "a log with a name": "It crashed.\n\n2026-03-03 10:15:00 Worker wrote:\nerror 17\n\nWhat is error 17?",
    "a log with an address": "It crashed.\n\n2026-03-03 10:15:00 delivered to <jo@shop.example>:\nerror 17\n\nWhat is error 17?",
}  # fmt: skip

QUOTES = {
    "English": "On 3 March 2026 at 10:14, Jo Doe wrote:",
    "English, wrapped": "On Tuesday, 3 March 2026 at 10:14, Jo Doe\nwrote:",
    "German": "Am 3. März 2026 um 10:14 Uhr schrieb Jo von Doe:",
    "German, wrapped": "Am Dienstag, dem 3.\nMärz 2026 um 10:14 schrieb Jo Doe:",
    "French": "Le 3 mars 2026 à 10:14, Jo Doe a écrit :",
    "Spanish": "El 3 mar 2026, a las 10:14, Jo Doe escribió:",
    "Italian": "Il 3 marzo 2026 alle 10:14, Jo Doe ha scritto:",
    "Dutch": "Op 3 maart 2026 om 10:14 schreef Jo van der Doe:",
    "Danish": "Den 3. marts 2026 kl. 10.14 skrev Jo Doe:",
    "Swedish": "Den 3 mars 2026 kl 10:14 skrev Jo Doe:",
    "Polish": "W dniu 3 marca 2026 o 10:14 Jo Doe napisał(a):",
    "Russian": "3 марта 2026 г., в 10:14, Иван Петров написал(а):",
    "with an address, no time": "On 3 March 2026, Jo Doe <jo@shop.example> wrote:",
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_is_no_attribution(name: str) -> None:
    assert reply_text(SENTENCES[name]).text == SENTENCES[name]


@pytest.mark.parametrize("name", QUOTES)
def test_what_no_person_types_still_is(name: str) -> None:
    assert reply_text(f"Yes, please.\n\n{QUOTES[name]}\n\nShall we ship it?\nJo\n").text == "Yes, please."


@pytest.mark.parametrize("name", SENTENCES)
def test_quoted_lines_below_a_sentence_go_without_it(name: str) -> None:
    own = SENTENCES[name].rstrip()
    result = reply_text(f"{own}\n\n> As you said.\n")
    assert (result.text, "As you said." in result.quoted) == (own, True)


BELOW_A_RULE = {
    "two questions": "Hi,\n\nI have two questions.\n\n---\n1. Where is my invoice?\n2. How do I cancel?",
    "a heading": "Order 4711\n-----\nCan I still change the colour to blue?",
    "a heading, a product": "Order 4711\n-----\nLamp Blue\nwww.shop.example",
    "an address between stars": "Hi,\n\n***\nJo Doe\n3 Long Street\nBonn\n***\n\nPlease send it there today.",
    "an address that is announced": "Please send it to:\n\n-----\nJo Doe\n3 Long Street\n+44 20 7946 0000",
    "headings": "Lamp\n====\nIt is broken\n\nTable\n=====\nIt is fine",
    "a table": "My order\n\n+----+\n| 4 lamps |\n+----+\nPlease deliver.",
    "a form": "Name: Jo\n---\nMy lamp is broken",
    "a form, German": "Name: Jo\n\n---\n\nMeine Lampe ist kaputt",
    "a sentence, French": "Bonjour,\n\n---\nLa lampe est cassée.",
    "a number of a parcel": "Bonjour,\n\n_____\nColis 4711 0815 4711",
    "a sentence with a number": "Hallo,\n\n=====\nBitte rufen Sie mich an: +49 228 4711 08 15.",
    "a question in Greek": "Γεια σας,\n\n---\nΠού είναι το δέμα μου",
    "a list": "Ich brauche\n\n---\n- Lampe Blau\n- Tisch Rot info@shop.example",
}
LAST_LINES = {
    "a parcel": "Hi,\n\nthe parcel is on its way.\nSent with DHL on Monday, tracking number 003404341616",
    "a post office": "Hi,\n\nhere it is.\nSent from the post office in Bonn on 3 March, receipt attached",
    "German": "Guten Tag,\n\ndas Paket kommt.\nMit DHL am 3. März verschickt, Sendungsnummer 123",
    "French": "Bonjour,\n\nvoici.\nEnvoyé de Paris le 3 mars, numéro 6A1234",
    "Spanish": "Hola,\n\naquí está.\nEnviado desde Madrid con Correos",
    "Italian": "Salve,\n\necco.\nInviato da Roma con corriere",
    "Polish": "Dzień dobry,\n\npaczka jest w drodze.\nWysłano z Warszawy kurierem",
    "Turkish": "Merhaba,\n\npaket yolda.\nDün İstanbul'dan gönderildi",
    "an order": "Hi,\n\nplease help.\nGet Outlook working again before noon",
    "a phone that was sent back": "Hi,\n\nI returned it.\nSent with my old phone on 3 March, parcel 4711",
    "a question": "Hi,\n\nI wrote twice.\nSent from my iPhone, did you get it?",
    "a fault": "Hi,\n\nI cannot sign in.\nFrom my phone it fails",
    "a program that fails": "Hi,\n\nno luck.\nOutlook for Android crashes",
    "Vietnamese": "Chào,\n\nxem hình.\nGửi từ bưu điện Hà Nội hôm qua",
    "by post": "Hi,\n\nthe form is signed.\nSent by mail to your office",
    "to a phone": "Hi,\n\nthe code never came.\nSent to my mobile phone, you say",
    "German, to a phone": "Hallo,\n\nder Code fehlt.\nGesendet an mein Handy, steht da",
    "Hungarian, a phone that was sent in": "Jó napot,\n\na telefon hibás.\nAz iPhone javításra küldve",
    "Hungarian, from a town": "Jó napot,\n\ncsomag úton.\nBudapestről küldve",
    "Russian, to a phone": "Здравствуйте,\n\nкод не пришёл.\nОтправлено на мобильный телефон вчера",
    "Russian, from a town": "Здравствуйте,\n\nпосылка в пути.\nОтправлено из Москвы почтой",
    "a town, in large letters": "Hi,\n\nthe parcel is on its way.\nSent from Bonn Main Post Office",
}
FOOTERS = {
    "Xperia": "Sent from my Xperia 5",
    "an unknown make": "Sent from my Fairphone 4",
    "German": "Von meinem iPhone 15 gesendet",
    "German, on the way": "Von unterwegs gesendet",
    "a link with numbers": "Get Outlook for iOS<https://aka.example/o0ukef12345>",
    "French": "Télécharger Outlook pour Android",
    "Spanish": "Enviado desde mi Samsung Galaxy",
    "Dutch": "Verzonden vanaf mijn Galaxy Tab",
    "a make of four words": "Sent from my Fairphone GT 4 5G",
    "German, a link behind": "Outlook für Android beziehen <https://go.example/get?id=26210815#top>",
    "Hungarian": "Az iPhone-omról küldve",
    "Hungarian, a make": "Samsung Galaxy telefonomról küldve",
    "Russian, an app": "Отправлено из мобильного приложения Почта",
    "Russian, a smartphone": "Отправлено с моего смартфона",
    "an excuse": "Sent from my phone, please excuse typos",
    "company": "_____\nAnn Example\nHead of Sales\nExample GmbH\nTel. +49 228 4711",
    "site": "***\nAnn Example\nwww.shop.example",
    "mail": "=====\nAnn Example\nann@shop.example",
    "rule at the end": "-----",
}


@pytest.mark.parametrize("name", BELOW_A_RULE)
def test_a_rule_begins_no_signature(name: str) -> None:
    assert reply_text(BELOW_A_RULE[name]).text == BELOW_A_RULE[name]


@pytest.mark.parametrize("name", LAST_LINES)
def test_a_last_line_is_no_footer(name: str) -> None:
    assert reply_text(LAST_LINES[name]).text == LAST_LINES[name]


@pytest.mark.parametrize("name", FOOTERS)
def test_a_footer_or_a_signature_still_goes(name: str) -> None:
    assert reply_text(f"Yes, please.\n\n{FOOTERS[name]}\n").text == "Yes, please."
